package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Everybody finds what is theirs, and the table says so. How long it took is for people to read.
func TestInboxRows(t *testing.T) {
	own := &target{folder: t.TempDir(), name: "inbox"}
	own.path = own.folder + "/inbox.db"
	s, err := own.open(t.Context(), 256, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bed := &inboxBed{store: s}
	if err := bed.fill(t.Context(), 1500); err != nil {
		t.Fatal(err)
	}
	if err := bed.index(t.Context()); err != nil {
		t.Fatal(err)
	}
	k, err := newKernel(s, 4, patient)
	if err != nil {
		t.Fatal(err)
	}
	bed.engine = k.Engine
	table := &Inbox{Open: 1500}
	begin := time.Now()
	if err := bed.look(t.Context(), Options{Looks: 1}.withDefaults(), table); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, row := range table.Rows {
		found[row.What+" "+row.Who] = row.Found
		if row.Looks == 0 || row.P50 > row.P99 || row.P99 > time.Since(begin) {
			t.Errorf("%+v", row)
		}
	}
	for what, want := range map[string]int{
		"list and counts administrator": 50, "list and counts reviewer": 50, "list and counts named in five": 5, "a word that is in all one of finance": 50, "a word that is in all named in five": 5,
		"a word that is in few administrator": 1, "a word that is in none administrator": 0, "two words, never together administrator": 0, "similar ones administrator": 1001,
	} {
		if found[what] != want {
			t.Errorf("%s: %d, want %d", what, found[what], want)
		}
	}
	report := newReport()
	report.Inbox = table
	var text bytes.Buffer
	if err := report.WriteTable(&text); err != nil || !strings.Contains(text.String(), "a word that is in none") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
