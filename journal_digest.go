package holdshort

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// ExtendJournal returns the digest of a run's journal after entries were added to it. The digest "" is that of a run that recorded nothing.
// It fails with Corrupt if the digest was not made by this method for this run, and with KeyUnknown if its key is not in the keyring.
//
// A digest is the number of entries, the sum of their MACs and a MAC over both. The order in which entries were added does not change it,
// so that it can be computed from the rows in any order, and extended without reading them. The key is the one that signed the run's first
// digest: entries of one run are all under one key.
func (k *Keyring) ExtendJournal(tenant TenantID, run RunID, digest string, entries ...JournalEntry) (string, error) {
	d := journalDigest{key: k.keys[0]}
	if digest != "" {
		var err error
		if d, err = k.openDigest(tenant, run, digest); err != nil {
			return "", err
		}
	}
	for _, e := range entries {
		if err := d.add(tenant, run, e); err != nil {
			return "", err
		}
	}
	return d.sign(tenant, run), nil
}

// VerifyJournal reports whether entries are exactly those of the digest: Corrupt if one is missing, changed, or was not recorded by the run;
// KeyUnknown if the digest's key is not in the keyring.
func (k *Keyring) VerifyJournal(tenant TenantID, run RunID, digest string, entries []JournalEntry) error {
	want, err := k.openDigest(tenant, run, digest)
	if err != nil {
		return err
	}
	got := journalDigest{key: want.key}
	for _, e := range entries {
		if err := got.add(tenant, run, e); err != nil {
			return journalFault(run, "an entry of the journal cannot be read")
		}
	}
	if got.count != want.count || got.sum != want.sum {
		return journalFault(run, "the journal is not what the run recorded: "+strconv.FormatUint(got.count, 10)+" entries, recorded were "+strconv.FormatUint(want.count, 10))
	}
	return nil
}

// journalDigest is what a digest says.
type journalDigest struct {
	key   *key
	count uint64
	sum   [4]uint64 // of the entries' MACs, as a number of 256 bits, lowest part first
}

const digestVersion = "1"

func journalFault(run RunID, message string) error {
	return &Error{Code: Corrupt, Op: "verify the journal of " + string(run), Message: message,
		Hint: "restore the rows from a backup and retry the run, or cancel the run; find out who can write to the database"}
}

// openDigest reads a digest and checks its MAC.
func (k *Keyring) openDigest(tenant TenantID, run RunID, digest string) (d journalDigest, err error) {
	parts := strings.Split(digest, ":")
	if len(parts) != 5 || parts[0] != digestVersion {
		return d, journalFault(run, "the digest of the journal cannot be read")
	}
	if d.key, err = k.key(parts[1]); err != nil {
		return d, err
	}
	count, err := strconv.ParseUint(parts[2], 10, 63)
	sum, err2 := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	mac, err3 := base64.RawURLEncoding.Strict().DecodeString(parts[4])
	if err != nil || err2 != nil || err3 != nil || len(sum) != sha256.Size {
		return d, journalFault(run, "the digest of the journal cannot be read")
	}
	d.count = count
	for i := range d.sum {
		d.sum[i] = binary.LittleEndian.Uint64(sum[8*i:])
	}
	if !hmac.Equal(mac, d.mac(tenant, run)) {
		return d, journalFault(run, "the digest of the journal is forged or damaged")
	}
	return d, nil
}

func (d *journalDigest) bytes() []byte {
	out := make([]byte, 0, sha256.Size)
	for _, part := range d.sum {
		out = binary.LittleEndian.AppendUint64(out, part)
	}
	return out
}

func (d *journalDigest) mac(tenant TenantID, run RunID) []byte {
	b := appendField(appendField(appendField(nil, "holdshort-journal-digest-1"), string(tenant)), string(run))
	return macOf(d.key.open().journal, append(appendNumber(b, int64(d.count)), d.bytes()...))
}

func (d *journalDigest) sign(tenant TenantID, run RunID) string {
	encode := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{digestVersion, d.key.id, strconv.FormatUint(d.count, 10), encode(d.bytes()), encode(d.mac(tenant, run))}, ":")
}

// add counts an entry as stores keep it: times in microseconds, JSON without white space.
func (d *journalDigest) add(tenant TenantID, run RunID, e JournalEntry) error {
	b := make([]byte, 0, 256+len(e.Outcome))
	for _, s := range []string{"holdshort-journal-entry-1", string(tenant), string(run), e.Key, e.Kind, e.Hash} {
		b = appendField(b, s)
	}
	for _, n := range []int64{int64(e.Attempt), storedMicros(e.Started), storedMicros(e.Ended)} {
		b = appendNumber(b, n)
	}
	var outcome bytes.Buffer
	if len(e.Outcome) > 0 {
		if err := json.Compact(&outcome, e.Outcome); err != nil {
			return &Error{Code: Invalid, Op: "record " + e.Key, Message: "its outcome is not JSON", Err: err, Hint: "record JSON values only"}
		}
	}
	b = appendField(b, outcome.String())
	if e.Error != nil {
		raw, err := json.Marshal(e.Error)
		if err != nil {
			return &Error{Code: Invalid, Op: "record " + e.Key, Message: "its failure is not JSON", Err: err, Hint: "record JSON values only"}
		}
		b = appendField(b, string(raw))
	}
	mac := macOf(d.key.open().journal, b)
	var carry uint64
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], binary.LittleEndian.Uint64(mac[8*i:]), carry)
	}
	d.count++
	return nil
}

func storedMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
