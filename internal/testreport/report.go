package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is one line of "go test -json" (see "go doc test2json") or of the build before it.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of a build
	FailedBuild                   string // of a package that did not compile
	Elapsed                       float64
}

// report collects the results of all packages and prints one line for each that ends.
type report struct {
	out      io.Writer
	packages int
	begun    time.Time

	ended                   int
	passed, failed, skipped int
	running                 map[string]*packageResult
	builds                  map[string][]string // compiler output by import path
	slowest                 []timedTest
	failures                []string
}

// packageResult is the state of a package whose tests run.
type packageResult struct {
	begun  time.Time
	output map[string][]string // of tests that have not ended, by test; the package's own under ""
	failed []string            // tests, subtests included
	tests  int
}

type timedTest struct {
	name    string
	seconds float64
}

const slowestShown = 10

func newReport(out io.Writer, packages int, now time.Time) *report {
	return &report{
		out: out, packages: packages, begun: now,
		running: map[string]*packageResult{}, builds: map[string][]string{},
	}
}

// line takes one line of input and reports whether it printed anything.
func (r *report) line(line []byte, now time.Time) bool {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.out.Write(line) // such as messages of the go command itself
		return true
	}
	switch e.Action {
	case "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		return false
	case "build-fail":
		return false // the package that needs it fails next, and shows the output
	}
	p := r.running[e.Package]
	if p == nil {
		p = &packageResult{begun: now, output: map[string][]string{}}
		r.running[e.Package] = p
	}
	switch {
	case e.Action == "output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case e.Test != "":
		return r.testEnded(p, e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		r.packageEnded(p, e, now)
		return true
	}
	return false
}

// testEnded prints the output of a test that failed at once: with -count, a test of the same name may pass later. It reports whether it
// printed anything.
func (r *report) testEnded(p *packageResult, e event) (printed bool) {
	switch e.Action {
	case "pass", "skip":
	case "fail":
		p.failed = append(p.failed, e.Test)
		for _, text := range p.output[e.Test] {
			fmt.Fprint(r.out, text)
			printed = true
		}
	default:
		return false
	}
	delete(p.output, e.Test)
	if strings.Contains(e.Test, "/") {
		return printed // its parent is counted
	}
	p.tests++
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
	case "skip":
		r.skipped++
	}
	r.slowest = append(r.slowest, timedTest{shortName(e.Package) + " " + e.Test, e.Elapsed})
	slices.SortFunc(r.slowest, func(a, b timedTest) int { return cmp.Compare(b.seconds, a.seconds) })
	r.slowest = r.slowest[:min(len(r.slowest), slowestShown)]
	return printed
}

func (r *report) packageEnded(p *packageResult, e event, now time.Time) {
	delete(r.running, e.Package)
	r.ended++
	if e.Action == "fail" {
		r.packageFailed(p, e)
	}
	result := map[string]string{"pass": "ok", "fail": "FAIL", "skip": "no tests"}[e.Action]
	fmt.Fprintf(r.out, "%s %-8s %s", r.progress(now), result, shortName(e.Package))
	if e.Action != "skip" {
		fmt.Fprintf(r.out, "  %d tests, %.1f s", p.tests, e.Elapsed)
	}
	fmt.Fprintln(r.out)
}

// packageFailed prints the output of the tests that never ended, and the package's own.
func (r *report) packageFailed(p *packageResult, e event) {
	name := shortName(e.Package)
	for _, test := range p.failed {
		r.failures = append(r.failures, name+" "+test)
	}
	if len(p.failed) == 0 { // a build, a panic, a timeout, a race outside of tests, TestMain
		r.failed++
		r.failures = append(r.failures, name+" (the package, not one of its tests)")
	}
	for _, text := range r.builds[e.FailedBuild] {
		fmt.Fprint(r.out, text)
	}
	for _, test := range slices.Sorted(maps.Keys(p.output)) {
		for _, text := range p.output[test] {
			fmt.Fprint(r.out, text)
		}
	}
}

// stillRunning names the packages that run, longest first.
func (r *report) stillRunning(now time.Time) {
	names := slices.SortedFunc(maps.Keys(r.running), func(a, b string) int {
		return r.running[a].begun.Compare(r.running[b].begun)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", shortName(name), seconds(now.Sub(r.running[name].begun)))
	}
	fmt.Fprintf(r.out, "%s running  %s\n", r.progress(now), cmp.Or(strings.Join(names, ", "), "the compiler"))
}

// finish prints the slowest tests, the failures and the totals. It returns an error unless every package passed.
func (r *report) finish(now time.Time) error {
	unfinished := len(r.running)
	for name, p := range r.running { // the go command died
		r.packageFailed(p, event{Package: name})
	}
	if len(r.slowest) > 0 {
		fmt.Fprintln(r.out, "\nslowest tests:")
	}
	for _, t := range r.slowest {
		fmt.Fprintf(r.out, "  %6.1f s  %s\n", t.seconds, t.name)
	}
	if len(r.failures) > 0 {
		fmt.Fprintln(r.out, "\nfailed:")
	}
	for _, name := range r.failures {
		fmt.Fprintln(r.out, "  "+name)
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped, %s\n", r.passed, r.failed, r.skipped, seconds(now.Sub(r.begun)))
	switch {
	case r.failed > 0:
		return fmt.Errorf("failed tests: %d", r.failed)
	case unfinished > 0:
		return fmt.Errorf("unfinished packages: %d", unfinished)
	case r.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

func (r *report) progress(now time.Time) string {
	return fmt.Sprintf("[%*d/%d %5s]", len(fmt.Sprint(r.packages)), r.ended, r.packages, seconds(now.Sub(r.begun)))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// shortName returns a package's path inside its module.
func shortName(pkg string) string {
	const module = "github.com/holdshort/holdshort"
	if pkg == module {
		return "."
	}
	return strings.TrimPrefix(pkg, module+"/")
}
