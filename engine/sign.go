package engine

import "github.com/holdshort/holdshort"

// Sign gives a MAC for something that is handed out and comes back, such as a personal link. What signs stays here; each purpose has a key
// of its own.
func (e *Engine) Sign(tenant holdshort.TenantID, purpose string, text []byte) string {
	return e.keyring.TenantHash(tenant, purpose, text)
}

// Signed reports whether Sign made the MAC, on any node that has the same keyring.
func (e *Engine) Signed(tenant holdshort.TenantID, purpose, mac string, text []byte) (bool, error) {
	return e.keyring.SameTenantHash(tenant, purpose, mac, text)
}
