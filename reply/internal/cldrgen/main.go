// Command cldrgen writes the word table of the reply reader from the files in words/ and cldr/.
// It imports the standard library and the sibling packages fold and lexicon only.
//
// From the module's root:
//
//	go run ./reply/internal/cldrgen
//
// After a new CLDR release, unpack the npm package cldr-misc-full (the committed extract is of 48.2.0), refresh the
// extract first, and look at its difference before committing:
//
//	go run ./reply/internal/cldrgen -in DIR
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	in := flag.String("in", "", "unpacked cldr-misc-full `folder`; rewrites the extract before the table")
	dir := flag.String("reply", "reply", "`folder` of package reply")
	flag.Parse()
	if err := run(*in, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "cldrgen:", err)
		os.Exit(1)
	}
}

const extractName = "cldr/yesno-48.2.0.tsv"

func run(in, dir string) error {
	extract := filepath.Join(dir, extractName)
	if in != "" {
		text, err := extractFrom(in)
		if err != nil {
			return err
		}
		if err := os.WriteFile(extract, text, 0o644); err != nil {
			return fmt.Errorf("write extract: %w", err)
		}
	}
	table, err := generate(dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, tableName), table, 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

const tableName = "internal/lexicon/table.go"

// generate builds the table's source from the committed inputs alone.
func generate(dir string) ([]byte, error) {
	t := newTable()
	raw, err := os.ReadFile(filepath.Join(dir, extractName))
	if err != nil {
		return nil, fmt.Errorf("read extract: %w", err)
	}
	if err := t.addExtract(raw); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "words", "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("find word files in %s: found %d, %v", dir, len(files), err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read words: %w", err)
		}
		if err := t.addWords(filepath.Base(name), string(raw)); err != nil {
			return nil, err
		}
	}
	return t.render()
}
