package engine

import "github.com/holdshort/holdshort"

// Told reports whether a run that is executed here was told to stop.
func (e *Engine) Told(tenant holdshort.TenantID, id holdshort.RunID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.running[runKey{tenant, id}]
	return s != nil && s.ctx.Err() != nil
}
