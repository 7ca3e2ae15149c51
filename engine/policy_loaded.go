package engine

import (
	"context"

	"github.com/holdshort/holdshort"
)

// PolicyLoaded leaves the fact that this node judges by rules of a version from now on, so that whoever asks later which rules stood when
// finds it in the log.
func (e *Engine) PolicyLoaded(ctx context.Context, tenant holdshort.TenantID, version string, rules int) error {
	return e.update(ctx, tenant, func(c *change) error {
		return c.event("policy.loaded", nil, nil, "system:"+clip(e.config.Node), "", map[string]any{"version": clip(version), "rules": rules})
	})
}
