package engine

import "github.com/holdshort/holdshort"

// activate makes a run that was started in a session the one that takes its messages, as one that a message started: unless another does, or
// the session has a flow of its own for them and this run is of another.
func (c *change) activate(run *holdshort.Run) error {
	if run.SessionID == "" {
		return nil
	}
	t, err := c.chat(run.SessionID)
	if err != nil || t == nil || t.gone || t.session.Flow != "" && t.session.Flow != run.Flow {
		return err
	}
	if active := t.session.ActiveRun; active != "" && active != run.ID {
		ended, err := c.endedRun(active)
		if err != nil || ended == "" {
			return err
		}
	}
	t.session.ActiveRun, t.dirty = run.ID, true
	return nil
}
