package main

import (
	"fmt"
	"strings"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// addWords reads one word file: a "language:" line, then sections in brackets, words and phrases between
// commas. A comma inside a phrase is left out: it folds to a space anyway.
func (t *table) addWords(name, text string) error {
	var languages []string
	var section lexicon.Meaning
	for n, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "#"); at >= 0 {
			line = line[:at]
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "language:"):
			languages = strings.Fields(strings.TrimPrefix(line, "language:"))
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			m, ok := lexicon.Sections[line[1:len(line)-1]]
			if !ok {
				return fmt.Errorf("read words/%s line %d: no section is called %s", name, n+1, line)
			}
			section = m
		case len(languages) == 0 || section == 0:
			return fmt.Errorf("read words/%s line %d: a language line and a section come before the first word", name, n+1)
		default:
			for phrase := range strings.SplitSeq(line, ",") {
				word := folded(phrase)
				if word == "" {
					return fmt.Errorf("read words/%s line %d: %q has nothing to compare", name, n+1, phrase)
				}
				for _, language := range languages {
					t.add(language, word, section)
				}
			}
		}
	}
	return nil
}
