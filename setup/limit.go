package setup

import (
	"cmp"
	"time"

	"github.com/holdshort/holdshort/config"
	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// limited puts the limits and the retention of the configuration into the fields that the program has not set itself.
func (p *Parts) limited(c engine.Config) engine.Config {
	l, out := p.settings.Limits, &c.Limits
	c.Workers = cmp.Or(c.Workers, l.Workers)
	out.Args = cmp.Or(out.Args, l.Args)
	out.Text = cmp.Or(out.Text, l.Text)
	out.Pauses = cmp.Or(out.Pauses, l.Pauses)
	out.OpenRequests = cmp.Or(out.OpenRequests, l.OpenRequests)
	out.TenantRuns = cmp.Or(out.TenantRuns, l.TenantRuns)
	out.Claims = cmp.Or(out.Claims, l.Claims)
	out.Silence = cmp.Or(out.Silence, time.Duration(l.Silence))
	out.Calls = cmp.Or(out.Calls, l.CallAttempts)
	out.Reasks = cmp.Or(out.Reasks, l.Reasks)
	if r := p.settings.Retention; c.Retention == nil && r != (config.Retention{}) {
		keep := engine.DefaultRetention()
		for _, age := range []struct {
			to   *time.Duration
			from config.Duration
		}{{&keep.Journals, r.Journals}, {&keep.Records, r.Records}, {&keep.Replays, r.Replays}, {&keep.Deliveries,
			r.Deliveries}, {&keep.Events, r.Events}} {
			switch time.Duration(age.from) {
			case 0:
			case policy.Never:
				*age.to = 0 // the store keeps for ever what has no age
			default:
				*age.to = time.Duration(age.from)
			}
		}
		c.Retention = &keep
	}
	return c
}
