package holdshort

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	secretSize    = 32
	maxKeyID      = 32
	maxKeyringRow = 1 << 10
)

// Keyring holds the secrets that make a decision ours. It lives outside the store, so that whoever can write the database cannot write a
// decision. The first key signs, all verify. A Keyring never changes and may be used by many at once; printing one shows key ids only. It comes
// from NewKeyring or ParseKeyring: the zero value has no key to sign with and panics when asked to.
type Keyring struct{ keys []*key }

// key is one secret behind a function: whatever prints a struct by reflection, exported or not, prints a function as an address.
type key struct {
	id   string
	open func() *secrets
}

// secrets are one secret and what is derived from it, one for each purpose: what is signed for one means nothing for another.
type secrets struct {
	root     []byte
	decision []byte
	vote     []byte
	tenant   []byte
	journal  []byte
	payload  []byte
	seal     ed25519.PrivateKey
}

// NewKeyring makes a keyring with one fresh key.
func NewKeyring() *Keyring { return &Keyring{keys: []*key{freshKey()}} }

// Rotate gives a keyring with a fresh key in front. What the old keys signed still verifies.
func (k *Keyring) Rotate() *Keyring {
	fresh := freshKey()
	for k.find(fresh.id) != nil {
		fresh = freshKey()
	}
	return &Keyring{keys: append([]*key{fresh}, k.keys...)}
}

// SigningKeyID names the key that signs.
func (k *Keyring) SigningKeyID() string { return k.keys[0].id }

// KeyIDs names all keys, the signing one first.
func (k *Keyring) KeyIDs() []string {
	ids := make([]string, len(k.keys))
	for i, key := range k.keys {
		ids[i] = key.id
	}
	return ids
}

func (k *Keyring) find(id string) *key {
	if i := slices.IndexFunc(k.keys, func(key *key) bool { return key.id == id }); i >= 0 {
		return k.keys[i]
	}
	return nil
}

// key gives the key with that id, or KeyUnknown.
func (k *Keyring) key(id string) (*key, error) {
	if key := k.find(id); key != nil {
		return key, nil
	}
	return nil, &Error{Code: KeyUnknown, Field: "key_id", Message: fmt.Sprintf("the keyring has no key %q", clip(id, maxKeyID)),
		Hint: "put that key back into the keyring, behind the one that signs: keys are kept as long as what they signed"}
}

func freshKey() *key {
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails: the runtime ends the program when the system has no randomness
	return deriveKey("k"+randomHex(4), secret)
}

func deriveKey(id string, root []byte) *key {
	derive := func(purpose string) []byte {
		derived, err := hkdf.Key(sha256.New, root, nil, "holdshort-"+purpose+"-1", secretSize)
		if err != nil {
			panic(err) // only for lengths that HKDF cannot give
		}
		return derived
	}
	s := &secrets{root: root, decision: derive("decision"), vote: derive("vote"), tenant: derive("tenant-hash"), journal: derive("journal"), payload: derive("payload"),
		seal: ed25519.NewKeyFromSeed(derive("seal"))}
	return &key{id: id, open: func() *secrets { return s }}
}

// Marshal gives the text that ParseKeyring reads. It holds the secrets: write it to a file of mode 0600 and nowhere else.
func (k *Keyring) Marshal() []byte {
	var b bytes.Buffer
	b.WriteString("# holdshort keyring: whoever reads this file can forge decisions. Keep it out of the database's backups.\n")
	b.WriteString("# One key on a line, id and secret. The first signs, all verify.\n")
	for _, key := range k.keys {
		fmt.Fprintf(&b, "%s %s\n", key.id, base64.StdEncoding.EncodeToString(key.open().root))
	}
	return b.Bytes()
}

// ParseKeyring reads one key on a line: an id, white space, 32 bytes in base64. Empty lines and what follows # count for nothing. The first
// key signs, all verify. Errors name the line and never show what stands on it.
func ParseKeyring(text []byte) (*Keyring, error) {
	k := &Keyring{}
	lineOf := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxKeyringRow)
	number := 0
	for lines.Scan() {
		number++
		content, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(strings.TrimPrefix(content, "\ufeff"))
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, badKey(number, strconv.Itoa(len(fields))+" words instead of an id and a secret")
		}
		id, secret := fields[0], fields[1]
		if !validKeyID(id) {
			return nil, badKey(number, "the key id is not 1 to 32 lower-case letters, digits, dashes and underscores")
		}
		if first, taken := lineOf[id]; taken {
			return nil, badKey(number, "the key id stands on line "+strconv.Itoa(first)+" already")
		}
		raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(secret, "="))
		if err != nil { // its text would say where the secret has which character
			return nil, badKey(number, "the secret is not base64")
		}
		if len(raw) != secretSize {
			return nil, badKey(number, "the secret has "+strconv.Itoa(len(raw))+" bytes instead of 32")
		}
		if bytes.Count(raw, raw[:1]) == len(raw) {
			return nil, badKey(number, "the secret is one byte repeated: that is a placeholder, not a secret")
		}
		lineOf[id] = number
		k.keys = append(k.keys, deriveKey(id, raw))
	}
	if lines.Err() != nil {
		return nil, badKey(number+1, "the line is too long")
	}
	if len(k.keys) == 0 {
		return nil, &Error{Code: Invalid, Field: "keyring", Message: "the keyring has no key",
			Hint: "write an id and `openssl rand -base64 32` on a line, or restore the file from its backup"}
	}
	return k, nil
}

func badKey(line int, message string) error {
	where := "line " + strconv.Itoa(line)
	return &Error{Code: Invalid, Field: where, Message: "keyring, " + where + ": " + message,
		Hint: "a line is an id, a space and `openssl rand -base64 32`; comments begin with #"}
}

// validKeyID keeps colons out, which part the key id from the rest of a tenant hash.
func validKeyID(id string) bool {
	ok := id != "" && len(id) <= maxKeyID
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	return ok
}

// String names the keys and shows nothing of them.
func (k Keyring) String() string { return "keyring(" + strings.Join(k.KeyIDs(), " ") + ")" }

// Format keeps the secrets out of every verb, %#v and %x among them.
func (k Keyring) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalText is what encoding/json and log/slog write: the key ids. The text with the secrets is Marshal.
func (k Keyring) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
