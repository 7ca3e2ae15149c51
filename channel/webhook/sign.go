package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// The headers of the specification.
const (
	IDHeader        = "webhook-id"
	TimestampHeader = "webhook-timestamp"
	SignatureHeader = "webhook-signature"
)

const signatureVersion = "v1,"

// Tolerance is how far the timestamp of what is received may be from now.
const Tolerance = 5 * time.Minute

// Sign gives the value of the signature header: one signature for each secret, so that a receiver who has any of them can check it.
func Sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	list := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		sum, err := signature(secret, id, strconv.FormatInt(at.Unix(), 10), body)
		if err != nil {
			return "", err
		}
		list = append(list, signatureVersion+base64.StdEncoding.EncodeToString(sum))
	}
	if len(list) == 0 {
		return "", &holdshort.Error{Code: holdshort.Internal, Op: "sign webhook", Message: "there is no secret to sign with"}
	}
	return strings.Join(list, " "), nil
}

func signature(secret, id, timestamp string, body []byte) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, holdshort.SecretPrefix))
	if err != nil || len(key) == 0 {
		return nil, &holdshort.Error{Code: holdshort.Invalid, Op: "sign webhook", Field: "secret", Message: "the secret is not whsec_ and base64", Hint: "rotate it"}
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id + "." + timestamp + "."))
	h.Write(body)
	return h.Sum(nil), nil
}

// Verify is for receivers in Go: nil if the body was signed with the secret within Tolerance of now. Check it before anything is read from the
// body, and take each webhook-id once.
func Verify(secret string, header http.Header, body []byte, now time.Time) error {
	forged := func(message string) error {
		return &holdshort.Error{Code: holdshort.MACInvalid, Op: "verify webhook", Message: message, Hint: "answer 400 and do nothing"}
	}
	id, timestamp := header.Get(IDHeader), header.Get(TimestampHeader)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" {
		return forged("its headers are not there")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return forged("it is too old, or of the future")
	}
	want, err := signature(secret, id, timestamp, body)
	if err != nil {
		return err
	}
	for one := range strings.FieldsSeq(header.Get(SignatureHeader)) {
		text, ok := strings.CutPrefix(one, signatureVersion)
		got, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return forged("no signature fits")
}
