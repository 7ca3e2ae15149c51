package reply

import "testing"

func TestSplitCode(t *testing.T) {
	for _, tt := range []struct {
		text, code, rest string
		ok               bool
	}{
		{"K7 yes", "K7", "yes", true},
		{"k7 yes", "K7", "yes", true},
		{"  K7   yes, please ", "K7", "yes, please", true},
		{"K7: yes", "K7", "yes", true},
		{"K7, yes", "K7", "yes", true},
		{"K7 - yes", "K7", "yes", true},
		{"K7- yes", "K7", "yes", true},
		{"#K7 yes", "K7", "yes", true},
		{"[K7] 1,3", "K7", "1,3", true},
		{"(k7) no", "K7", "no", true},
		{"Ｋ７　はい", "K7", "はい", true},
		{"\u200FK7 כן", "K7", "כן", true},
		{"K7", "K7", "", true},
		{"ab12\nfirst\nsecond", "AB12", "first\nsecond", true},
		{"3 pm", "", "", false},
		{"3pm", "", "", false},
		{"I 5", "", "", false},
		{"K 7 yes", "", "", false},
		{"K7yes", "", "", false},
		{"7K yes", "", "", false},
		{"yes K7", "", "", false},
		{"ABCD1 yes", "", "", false},
		{"K12345 yes", "", "", false},
		{"К7 yes", "", "", false}, // Cyrillic
		{"K² yes", "", "", false},
		{`"K7" yes`, "", "", false},
		{"", "", "", false},
		{"yes", "", "", false},
		{"2", "", "", false},
	} {
		code, rest, ok := SplitCode(tt.text)
		if code != tt.code || rest != tt.rest || ok != tt.ok {
			t.Errorf("%q: got %q, %q, %v; want %q, %q, %v", tt.text, code, rest, ok, tt.code, tt.rest, tt.ok)
		}
	}
}

func TestLooksLikeAnswer(t *testing.T) {
	for _, text := range []string{"yes", "No!", "y", "n", "כן", "לא", "1", "2", "1 2", "1,3", "1, 2, 3", "ok", "okay", "sure", "בטוח", "שניהם", "כולם",
		"both", "all", "אישור", "ביטול", "cancel", "👍", "👎🏽", "٣", "yes, please"} {
		if !LooksLikeAnswer(text, nil) {
			t.Errorf("%q does not look like an answer, but is one", text)
		}
	}
	for _, text := range []string{"", " ", "hello", "yes I would like to book a table", "book 2 tickets", "what can you do", "3pm", "sim", "🙏",
		"1-3 days ago", "no idea what this is", "\xff", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "...", "cancel my order from yesterday"} {
		if LooksLikeAnswer(text, nil) {
			t.Errorf("%q looks like an answer, but could be a new request", text)
		}
	}
	if !LooksLikeAnswer("sim", []string{"pt"}) {
		t.Error("sim is an answer in Portuguese")
	}
}
