package archtest

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// RootFiles lists the files of the module's root folder that are not Go sources.
var RootFiles = []string{
	".git", // a file, not a folder, in a linked work tree
	".editorconfig", ".gitattributes", ".gitignore", ".golangci.yml",
	"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md", "SECURITY.md",
	"THIRD_PARTY_NOTICES.md", "go.mod", "go.sum",
}

// Root refuses files in the root folder that are neither Go sources, nor listed, nor ignored by .gitignore. A stray file
// there is the first thing a reader of the repository sees.
func Root(root fs.FS, listed []string) []Finding {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return []Finding{{".", 1, err.Error()}}
	}
	ignored := ignorePatterns(root)
	var found []Finding
	for _, entry := range entries {
		name := entry.Name()
		known := entry.IsDir() || strings.HasSuffix(name, ".go") || slices.Contains(listed, name)
		if known || matchesAny(ignored, name) {
			continue
		}
		found = append(found, Finding{name, 1,
			"unlisted file in the root folder: delete it, move it into a folder, or list it in internal/archtest/root.go"})
	}
	return found
}

// ignorePatterns returns the patterns of .gitignore that can match a file in the root folder.
func ignorePatterns(root fs.FS) []string {
	text, err := fs.ReadFile(root, ".gitignore")
	if err != nil {
		return nil
	}
	var patterns []string
	for line := range strings.Lines(string(text)) {
		pattern := strings.TrimPrefix(strings.TrimSpace(line), "/")
		if pattern == "" || pattern[0] == '#' || strings.Contains(pattern, "/") {
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
