package holdshort

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// ArgsHash names arguments by their canonical bytes: SHA-256 in hexadecimal. What was approved, what is recorded and what runs are compared
// by it. It takes the output of Canonical and does not check that it is.
func ArgsHash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// hashJSON gives the hash of the canonical form of the value at place; nothing at all hashes to "", which no value does.
func hashJSON(place string, raw []byte) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	canonical, err := canonicalAt(place, raw)
	if err != nil {
		return "", err
	}
	return ArgsHash(canonical), nil
}

// appendField writes a text with its length in front, in eight bytes, big-endian: no two lists of texts give the same bytes.
func appendField(b []byte, s string) []byte {
	return append(appendNumber(b, int64(len(s))), s...)
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }
