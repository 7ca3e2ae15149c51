package inbox

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdshort/holdshort"
)

// proofHeader carries the proof where a card is asked for again.
const proofHeader = "Holdshort-Revealed"

const (
	revealPurpose = "revealed"
	revealedFor   = 15 * time.Minute // then they look again, and that is noted again
)

// serveReveal notes that somebody looks, then shows what is withheld.
func (v *visit) serveReveal() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	proof, err := v.reveal(v.requestID())
	if err != nil {
		return err
	}
	return v.again(v.requestID(), draft{form: form, proof: proof, edit: form.Has("editing")}, nil)
}

// reveal notes that somebody looks at what is withheld, and gives the proof of it: with that the card shows it for a while.
func (v *visit) reveal(id holdshort.RequestID) (proof string, err error) {
	if _, err := v.engine.Reveal(v.ctx, v.tenant(), id, v.actor()); err != nil {
		return "", err
	}
	until := strconv.FormatInt(v.now.Add(revealedFor).Unix(), 10)
	return until + "." + v.engine.Sign(v.tenant(), revealPurpose, v.revealText(id, until)), nil
}

// proven reports whether it was noted, a short while ago, that this person looks at what is withheld of a request.
func (v *visit) proven(id holdshort.RequestID, proof string) bool {
	until, mac, ok := strings.Cut(proof, ".")
	end, err := strconv.ParseInt(until, 10, 64)
	if !ok || err != nil || !v.now.Before(time.Unix(end, 0)) {
		return false
	}
	same, err := v.engine.Signed(v.tenant(), revealPurpose, mac, v.revealText(id, until))
	return err == nil && same
}

func (v *visit) revealText(id holdshort.RequestID, until string) []byte {
	return []byte(string(id) + "\n" + until + "\n" + v.actor().ID)
}
