package engine

import (
	"context"

	"github.com/holdshort/holdshort"
)

func (e *Engine) fireClaim(ctx context.Context, tenant holdshort.TenantID, t holdshort.Timer) error {
	return nil
}
