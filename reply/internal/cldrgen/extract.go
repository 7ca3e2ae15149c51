package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdshort/holdshort/reply/internal/lexicon"
)

// pair is what CLDR calls yesstr and nostr: a word and its abbreviations, separated by colons.
type pair struct{ yes, no string }

// root is the value of every locale that has none of its own. English, which has the same, is in words/en.txt.
var root = pair{"yes:y", "no:n"}

const extractHead = `# Yes and no of Unicode CLDR 48.2.0 (cldr-misc-full, main/<locale>/posix.json): locales, yesstr, nostr.
# Locales that only repeat the root value yes:y, no:n have no data of their own and are left out.
# Copyright 2004-2026 Unicode, Inc.; Unicode License v3, see NOTICE. Written by cldrgen, not by hand.
`

func extractFrom(dir string) ([]byte, error) {
	locales, err := os.ReadDir(filepath.Join(dir, "main"))
	if err != nil {
		return nil, fmt.Errorf("list locales: %w", err)
	}
	byPair := map[pair][]string{}
	for _, locale := range locales {
		raw, err := os.ReadFile(filepath.Join(dir, "main", locale.Name(), "posix.json"))
		if err != nil {
			return nil, fmt.Errorf("read locale %s: %w", locale.Name(), err)
		}
		var file struct {
			Main map[string]struct {
				Posix struct {
					Messages struct{ YesStr, NoStr string }
				}
			}
		}
		if err := json.Unmarshal(raw, &file); err != nil {
			return nil, fmt.Errorf("parse locale %s: %w", locale.Name(), err)
		}
		m := file.Main[locale.Name()].Posix.Messages
		if p := (pair{m.YesStr, m.NoStr}); p != root {
			byPair[p] = append(byPair[p], locale.Name())
		}
	}
	var lines []string
	for p, names := range byPair {
		slices.Sort(names)
		lines = append(lines, strings.Join(names, " ")+"\t"+p.yes+"\t"+p.no+"\n")
	}
	slices.Sort(lines)
	var out bytes.Buffer
	out.WriteString(extractHead)
	for _, line := range lines {
		out.WriteString(line)
	}
	return out.Bytes(), nil
}

func (t *table) addExtract(raw []byte) error {
	for n, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			return fmt.Errorf("read extract line %d: want 3 columns, got %d", n+1, len(columns))
		}
		for _, locale := range strings.Fields(columns[0]) {
			language := lexicon.Primary(locale)
			t.addTokens(language, columns[1], lexicon.Yes)
			t.addTokens(language, columns[2], lexicon.No)
		}
	}
	return nil
}

// lookalikes are letters that CLDR's data has in the place of the colon.
var lookalikes = map[string]string{"mr": "ः", "sat": "ᱺ"}

func (t *table) addTokens(language, list string, m lexicon.Meaning) {
	separators := ":/៖᠄" + lookalikes[language]
	var first string
	for _, token := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		word := folded(token)
		if first == "" {
			first = word
		}
		as := m
		if m == lexicon.Yes && abbreviates(word, first) {
			as = lexicon.YesLetter
		}
		t.add(language, word, as)
	}
}

// abbreviates reports short forms such as "th" for "tha": no better than a single letter.
func abbreviates(word, full string) bool {
	return word != full && len([]rune(word)) <= 2 && strings.HasPrefix(full, word)
}
