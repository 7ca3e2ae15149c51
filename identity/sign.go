package identity

import "github.com/holdshort/holdshort"

// signer is the part of the engine that makes what is handed out ours, without handing out its keyring.
type signer interface {
	Sign(tenant holdshort.TenantID, purpose string, text []byte) string
	Signed(tenant holdshort.TenantID, purpose, mac string, text []byte) (bool, error)
}

// local signing until the engine has it: links end with the process.
type ring struct{ *holdshort.Keyring }

func (r ring) Sign(t holdshort.TenantID, purpose string, text []byte) string {
	return r.TenantHash(t, purpose, text)
}
func (r ring) Signed(t holdshort.TenantID, purpose, mac string, text []byte) (bool, error) {
	return r.SameTenantHash(t, purpose, mac, text)
}

func signerOf(e any) signer {
	if s, ok := e.(signer); ok {
		return s
	}
	return ring{holdshort.NewKeyring()}
}
