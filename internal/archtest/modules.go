package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Dependency is a module that is linked into a program.
type Dependency struct{ Path, Version string }

// Linked asks the go command which modules a package of the module at root brings into a binary.
func Linked(root, pkg string) ([]Dependency, error) {
	out, err := goCommand(root, "list", "-deps", "-json=Module", pkg)
	if err != nil {
		return nil, err
	}
	seen := map[Dependency]bool{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var listed struct {
			Module *struct {
				Path, Version string
				Main          bool
			}
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		if m := listed.Module; m != nil && !m.Main {
			seen[Dependency{m.Path, m.Version}] = true
		}
	}
	all := make([]Dependency, 0, len(seen))
	for d := range seen {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Dependency) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// Notices compares what is linked with THIRD_PARTY_NOTICES.md and the license texts that go with it.
func Notices(root fs.FS, linked []Dependency) []Finding {
	const file = "THIRD_PARTY_NOTICES.md"
	table, err := fs.ReadFile(root, file)
	if err != nil {
		return []Finding{{file, 1, "missing: run scripts/notices"}}
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		rows[cells[0]] = cells
	}
	var found []Finding
	for _, d := range linked {
		row := rows[d.Path]
		text := path.Join("third_party/licenses", d.Path+".txt")
		switch {
		case len(row) < 3:
			found = append(found, Finding{file, 1, d.Path + " is linked and not named: run scripts/notices"})
			continue
		case row[1] != d.Version:
			found = append(found, Finding{file, 1, d.Path + " is linked at " + d.Version + ", named at " + row[1] + ": run scripts/notices"})
		case row[2] == "" || row[2] == "unknown":
			found = append(found, Finding{file, 1, d.Path + " has no license named: read its text and teach scripts/notices to tell it"})
		}
		if info, err := fs.Stat(root, text); err != nil || info.Size() < 200 {
			found = append(found, Finding{text, 1, "license text missing: run scripts/notices"})
		}
	}
	return found
}

// LibcPin checks that modernc.org/libc is the version that its sqlite was built and tested with: another one compiles and may corrupt.
func LibcPin(root string) ([]Finding, error) {
	const sqlite, libc = "modernc.org/sqlite", "modernc.org/libc"
	out, err := goCommand(root, "list", "-m", "-f", "{{.GoMod}}", sqlite)
	if err != nil {
		return nil, err
	}
	theirs, err := required(strings.TrimSpace(string(out)), libc)
	if err != nil {
		return nil, err
	}
	ours, err := required(filepath.Join(root, "go.mod"), libc)
	if err != nil {
		return nil, err
	}
	if ours != theirs {
		return []Finding{{"go.mod", 1, fmt.Sprintf("%s is %s, and %s wants %s: go get %s@%s", libc, ours, sqlite, theirs, libc, theirs)}}, nil
	}
	return nil, nil
}

// required reads the version that a go.mod file requires of a module.
func required(gomod, module string) (string, error) {
	text, err := os.ReadFile(gomod)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("read %s: no requirement of %s", gomod, module)
}

func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// The released binary is built without cgo, and cgo can bring other packages.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
