package inbox

import "testing"

// Every Inbox of a process uses the same parsed templates, but can be given a build of its own.
func TestLooksAreParsedOnce(t *testing.T) {
	one, err := newLooks()
	if err != nil {
		t.Fatal(err)
	}
	two, err := newLooks()
	if err != nil {
		t.Fatal(err)
	}
	if one.parts != two.parts || one.pages["link"] != two.pages["link"] {
		t.Error("the templates were parsed twice")
	}
	one.build = "another"
	if two.build == "another" {
		t.Error("the build of one Inbox changed that of another")
	}
}
