package holdshort

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SignDecision binds d to one request of one tenant and to exactly what it decides: it fills KeyID and MAC, and Nonce unless it has one.
// It sets At to UTC and whole microseconds, which is what stores keep. The time, ids, fingerprint and actor must be there.
//
// The MAC covers tenant, request id, decision id, nonce, key id, fingerprint, the actor's id, kind, user, assurance and roles, action, message,
// every call's id, action, final arguments hash and message, option ids, value, self_approved and time. It does not cover what is only
// told about it: the actor's name, the raw reply, the channel.
func (k *Keyring) SignDecision(tenant TenantID, d Decision) (Decision, error) {
	return k.sign("decision", k.keys[0].open().decision, tenant, d)
}

// VerifyDecision checks a stored decision: KeyUnknown if its key is not in the keyring, MACInvalid if anything that its MAC covers is not
// what was signed.
func (k *Keyring) VerifyDecision(tenant TenantID, d Decision) error {
	if d.KeyID == "" {
		return unsigned("decision", d)
	}
	key, err := k.key(d.KeyID)
	if err != nil {
		return err
	}
	return verifyMAC("decision", key.open().decision, tenant, d)
}

// SignVote signs one of several approvals that a quorum needs, as SignDecision does, under another key: a vote is never a decision.
func (k *Keyring) SignVote(tenant TenantID, v Vote) (Vote, error) {
	return k.sign("vote", k.keys[0].open().vote, tenant, v)
}

// VerifyVote checks a stored vote, as VerifyDecision does a decision.
func (k *Keyring) VerifyVote(tenant TenantID, v Vote) error {
	if v.KeyID == "" {
		return unsigned("vote", v)
	}
	key, err := k.key(v.KeyID)
	if err != nil {
		return err
	}
	return verifyMAC("vote", key.open().vote, tenant, v)
}

func (k *Keyring) sign(noun string, secret []byte, tenant TenantID, d Decision) (Decision, error) {
	if err := signable(noun, tenant, d); err != nil {
		return d, err
	}
	if d.Nonce == "" {
		d.Nonce = randomHex(16)
	}
	d.KeyID = k.keys[0].id
	d.At = d.At.UTC().Truncate(time.Microsecond)
	mac, err := decisionMAC(noun, secret, tenant, d)
	if err != nil {
		return d, err
	}
	d.MAC = hex.EncodeToString(mac)
	return d, nil
}

// signable refuses a decision that would be bound to nothing, or that would not verify after a trip through a store.
func signable(noun string, tenant TenantID, d Decision) error {
	for _, must := range []struct{ field, value string }{{"tenant", string(tenant)}, {"id", string(d.ID)}, {"request_id", string(d.RequestID)},
		{"fingerprint", d.Fingerprint}, {"actor", d.Actor.ID}, {"action", string(d.Action)}} {
		if must.value == "" {
			return &Error{Code: Invalid, Op: "sign " + noun, Field: must.field, Message: must.field + " is missing", Hint: "a " + noun + " is signed when it is whole"}
		}
	}
	if d.At.IsZero() {
		return &Error{Code: Invalid, Op: "sign " + noun, Field: "at", Message: "its time is missing", Hint: "set At to the transaction's time"}
	}
	texts := append(append([]string{d.Message, d.Actor.ID, d.Actor.ForUser, d.Nonce}, d.OptionIDs...), d.Actor.Roles...)
	for _, c := range d.Calls {
		texts = append(texts, c.CallID, c.Message)
	}
	return checkUTF8(Invalid, texts)
}

// unsigned is a row that was never signed: forged, not a matter of a missing key.
func unsigned(noun string, d Decision) *Error {
	return &Error{Code: MACInvalid, Op: "verify " + noun + " " + clip(string(d.ID), 60), Message: "it is not what was signed: forged, moved or corrupted",
		Hint: "nothing runs on it; look into the database's access log and ask again"}
}

func verifyMAC(noun string, secret []byte, tenant TenantID, d Decision) error {
	forged := unsigned(noun, d)
	want, err := decisionMAC(noun, secret, tenant, d)
	if err != nil {
		forged.Err = err
		return forged
	}
	got, err := hex.DecodeString(d.MAC)
	if err != nil || !hmac.Equal(got, want) {
		return forged
	}
	return nil
}

// decisionMAC writes each part with its length in front and each list with its number, so that no two decisions give the same bytes.
// Arguments of an edit must be those that their hash names: the hash is signed, the bytes run.
func decisionMAC(noun string, secret []byte, tenant TenantID, d Decision) ([]byte, error) {
	value, err := hashJSON("/value", d.Value)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, s := range []string{"holdshort-" + noun + "-mac-1", string(tenant), string(d.RequestID), string(d.ID), d.Nonce, d.KeyID, d.Fingerprint,
		d.Actor.ID, string(d.Actor.Kind), d.Actor.ForUser, string(d.Actor.Assurance), string(d.Action), d.Message, value} {
		b = appendField(b, s)
	}
	roles := slices.Sorted(slices.Values(d.Actor.Roles)) // a rule that became stricter is held against them
	for _, list := range [][]string{roles, d.OptionIDs} {
		b = appendNumber(b, int64(len(list)))
		for _, s := range list {
			b = appendField(b, s)
		}
	}
	b = appendNumber(b, int64(len(d.Calls)))
	for i, c := range d.Calls {
		if len(c.Args) > 0 {
			if hash, err := hashJSON("/calls/"+strconv.Itoa(i)+"/args", c.Args); err != nil {
				return nil, err
			} else if hash != c.ArgsHash {
				return nil, &Error{Code: ArgsChanged, Field: "calls", Message: "a call's arguments are not those of its hash", Hint: "set args_hash from the canonical arguments"}
			}
		}
		for _, s := range []string{c.CallID, string(c.Action), c.ArgsHash, c.Message} {
			b = appendField(b, s)
		}
	}
	selfApproved := int64(0)
	if d.SelfApproved {
		selfApproved = 1
	}
	b = appendNumber(b, selfApproved)
	b = appendNumber(b, d.At.UnixMicro())
	return macOf(secret, b), nil
}

func macOf(secret, message []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write(message)
	return h.Sum(nil)
}

// TenantHash names data without giving it away: "keyid:hex", keyed per tenant and purpose, so that equal data of two tenants or for two
// purposes cannot be matched, nor guessed without the keyring.
func (k *Keyring) TenantHash(tenant TenantID, purpose string, data []byte) string {
	return k.keys[0].id + ":" + hex.EncodeToString(k.keys[0].tenantHash(tenant, purpose, data))
}

// SameTenantHash reports whether stored, made by TenantHash under any key of the ring, is that of data. What TenantHash cannot have made is Corrupt.
func (k *Keyring) SameTenantHash(tenant TenantID, purpose, stored string, data []byte) (bool, error) {
	id, sum, ok := strings.Cut(stored, ":")
	want, err := hex.DecodeString(sum)
	if !ok || err != nil || len(want) != sha256.Size {
		return false, &Error{Code: Corrupt, Message: "a stored hash is not of the form key:hex", Hint: "restore the row from a backup"}
	}
	key, err := k.key(id)
	if err != nil {
		return false, err
	}
	return hmac.Equal(want, key.tenantHash(tenant, purpose, data)), nil
}

func (k *key) tenantHash(tenant TenantID, purpose string, data []byte) []byte {
	scope := macOf(k.open().tenant, appendField(appendField(nil, string(tenant)), purpose))
	return macOf(scope, data)
}

// SignSeal signs the root of the event log with Ed25519, so that it can be checked by whoever has the public key alone.
func (k *Keyring) SignSeal(message []byte) (keyID string, signature []byte) {
	return k.keys[0].id, ed25519.Sign(k.keys[0].open().seal, message)
}

// VerifySeal checks what SignSeal made: KeyUnknown or MACInvalid if it does not hold.
func (k *Keyring) VerifySeal(keyID string, message, signature []byte) error {
	public, err := k.SealPublicKey(keyID)
	if err != nil {
		return err
	}
	if !ed25519.Verify(public, message, signature) {
		return &Error{Code: MACInvalid, Op: "verify seal", Message: "the signature does not fit: the event log was changed or the seal is forged",
			Hint: "compare with the seals in the log files, which were written at the same time"}
	}
	return nil
}

// SealPublicKey is what an auditor needs to check seals without the keyring.
func (k *Keyring) SealPublicKey(keyID string) (ed25519.PublicKey, error) {
	key, err := k.key(keyID)
	if err != nil {
		return nil, err
	}
	return key.open().seal.Public().(ed25519.PublicKey), nil
}

// PayloadKey is the 32-byte key for encrypting stored payloads. The caller gets a copy.
func (k *Keyring) PayloadKey(keyID string) ([]byte, error) {
	key, err := k.key(keyID)
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), key.open().payload...), nil
}
