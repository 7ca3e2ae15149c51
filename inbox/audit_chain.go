package inbox

import (
	"net/http"
	"time"

	"github.com/holdshort/holdshort/engine"
	"github.com/holdshort/holdshort/policy"
)

// chainLook is how many of the last events are checked when somebody opens the page. `holdshort audit verify` checks all.
const chainLook = 1000

// sealView is how far the log is signed.
type sealView struct {
	Sealed, Waiting string
	At              time.Time
	Number          string
	Root, KeyID     string
	Signed, None    bool
}

func sealViewOf(s engine.SealStatus) sealView {
	w := sealView{Sealed: number(int(s.Sealed)), At: s.SealedAt, Number: number(int(s.Number)), Root: s.Root, KeyID: s.KeyID, Signed: s.Signed, None: s.Number == 0}
	if s.Unsealed.Count > 0 || s.Unsealed.More {
		if w.Waiting = number(int(s.Unsealed.Count)); s.Unsealed.More {
			w.Waiting += "+"
		}
	}
	return w
}

// chainView is what a look at the end of the log found.
type chainView struct {
	Events, Seals, Unsealed string
	All                     bool
	Faults                  []faultView
	At                      time.Time
}

type faultView struct{ Where, Problem string }

func (v *visit) chain() (*chainView, error) {
	c, err := v.engine.VerifyChain(v.ctx, v.tenant(), chainLook)
	if err != nil {
		return nil, err
	}
	w := &chainView{Events: number(int(c.Events)), Seals: number(int(c.Seals)), Unsealed: number(int(c.Unsealed)), All: c.All, At: c.At}
	for i, f := range c.Faults {
		if i == 20 {
			w.Faults = append(w.Faults, faultView{Problem: number(len(c.Faults)-i) + " more"})
			break
		}
		where := ""
		switch {
		case f.Position > 0:
			where = "position " + number(int(f.Position))
		case f.Seal > 0:
			where = "seal " + number(int(f.Seal))
		case f.Stream != "":
			where = f.Stream
		}
		w.Faults = append(w.Faults, faultView{where, f.Problem})
	}
	return w, nil
}

// serveChain answers with what a look at the end of the log found, for the page to fill in.
func (v *visit) serveChain() error {
	if err := v.must(policy.ViewAudit); err != nil {
		return err
	}
	w, err := v.chain()
	if err != nil {
		return err
	}
	return v.part(http.StatusOK, "audit_chain", w)
}
