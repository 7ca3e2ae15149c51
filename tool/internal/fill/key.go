package fill

import (
	"crypto/sha256"
	"encoding/hex"
)

// mostKey is the length that other sides take for an idempotency key.
const mostKey = 255

// Key is the operation id as the other side gets it: itself, or its hash where it could not travel in a header or is longer than keys are.
func Key(operationID string) string {
	fits := operationID != "" && len(operationID) <= mostKey
	for _, c := range []byte(operationID) {
		fits = fits && c > ' ' && c < 0x7f
	}
	if fits || operationID == "" {
		return operationID
	}
	sum := sha256.Sum256([]byte(operationID))
	return "op_" + hex.EncodeToString(sum[:])
}
