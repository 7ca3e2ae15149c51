package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const passing = `{"Action":"start","Package":"github.com/holdshort/holdshort/engine"}
{"Action":"run","Package":"github.com/holdshort/holdshort/engine","Test":"TestStorm"}
{"Action":"output","Package":"github.com/holdshort/holdshort/engine","Test":"TestStorm","Output":"chatter\n"}
{"Action":"pass","Package":"github.com/holdshort/holdshort/engine","Test":"TestStorm/one","Elapsed":9}
{"Action":"pass","Package":"github.com/holdshort/holdshort/engine","Test":"TestStorm","Elapsed":2.5}
{"Action":"skip","Package":"github.com/holdshort/holdshort/engine","Test":"TestLinux","Elapsed":0}
{"Action":"pass","Package":"github.com/holdshort/holdshort/engine","Elapsed":2.6}
{"Action":"skip","Package":"github.com/holdshort/holdshort","Elapsed":0}
`

const failing = `{"Action":"start","Package":"example.test/a"}
{"Action":"output","Package":"example.test/a","Test":"TestBad","Output":"--- FAIL: TestBad\n"}
{"Action":"output","Package":"example.test/a","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"example.test/a","Test":"TestGood","Elapsed":1}
{"Action":"output","Package":"example.test/a","Test":"TestBad/row","Output":"row is wrong\n"}
{"Action":"fail","Package":"example.test/a","Test":"TestBad/row","Elapsed":1}
{"Action":"fail","Package":"example.test/a","Test":"TestBad","Elapsed":1}
{"Action":"fail","Package":"example.test/a","Elapsed":2}
`

func TestReport(t *testing.T) {
	tests := []struct {
		name, in, err string
		want, wantNot []string
	}{
		{"passing", passing, "", []string{
			"[1/2   0 s] ok       engine  2 tests, 2.6 s\n", "[2/2   0 s] no tests .\n",
			"     2.5 s  engine TestStorm\n", "\n1 passed, 0 failed, 1 skipped, 0 s\n",
		}, []string{"chatter", "failed:\n", "TestStorm/one"}},
		{"failing", failing, "failed tests: 1", []string{
			"--- FAIL: TestBad\n", "row is wrong\n", "FAIL     example.test/a  2 tests", "failed:\n  example.test/a TestBad/row\n",
			"1 passed, 1 failed, 0 skipped",
		}, []string{"chatter"}},
		{"passing the second time", strings.Replace(failing, `{"Action":"fail","Package":"example.test/a","Elapsed":2}`,
			`{"Action":"pass","Package":"example.test/a","Test":"TestBad/row","Elapsed":1}
{"Action":"pass","Package":"example.test/a","Test":"TestBad","Elapsed":1}
{"Action":"fail","Package":"example.test/a","Elapsed":2}`, 1), "failed tests: 1", []string{"row is wrong\n", "2 passed, 1 failed"}, nil},
		{"build", `{"ImportPath":"example.test/a [test]","Action":"build-output","Output":"a.go:1: undefined: x\n"}
{"ImportPath":"example.test/a [test]","Action":"build-fail"}
{"Action":"start","Package":"example.test/a"}
{"Action":"fail","Package":"example.test/a","Elapsed":0,"FailedBuild":"example.test/a [test]"}
`, "failed tests: 1", []string{"undefined: x\n", "the package, not one of its tests"}, nil},
		{"panic", `{"Action":"start","Package":"example.test/a"}
{"Action":"output","Package":"example.test/a","Test":"TestPanic","Output":"panic: oh\n"}
{"Action":"fail","Package":"example.test/a","Elapsed":0}
`, "failed tests: 1", []string{"panic: oh\n"}, nil},
		{"cut off", `{"Action":"start","Package":"example.test/a"}
{"Action":"output","Package":"example.test/a","Test":"TestLong","Output":"half way\n"}
`, "failed tests: 1", []string{"half way\n"}, nil},
		{"nothing", "", "no test ran", []string{"0 passed"}, nil},
		{"plain text", "go: cannot find main module\n", "no test ran", []string{"go: cannot find main module\n"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				err := run(strings.NewReader(tt.in), &out, 2)
				if got := fmt.Sprint(err); (err != nil || tt.err != "") && got != tt.err {
					t.Errorf("error %q, want %q", got, tt.err)
				}
				for _, want := range tt.want {
					if !strings.Contains(out.String(), want) {
						t.Errorf("%q is missing in:\n%s", want, &out)
					}
				}
				for _, unwanted := range tt.wantNot {
					if strings.Contains(out.String(), unwanted) {
						t.Errorf("%q is in:\n%s", unwanted, &out)
					}
				}
			})
		})
	}
}

func TestReportNamesRunningPackages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, events := io.Pipe()
		var out bytes.Buffer
		done := make(chan error)
		go func() { done <- run(in, &out, 7) }()
		io.WriteString(events, `{"Action":"start","Package":"example.test/slow"}`+"\n")
		synctest.Wait()
		<-time.After(heartbeat + time.Second)
		io.WriteString(events, `{"Action":"pass","Package":"example.test/slow","Test":"TestX","Elapsed":31}`+"\n")
		io.WriteString(events, `{"Action":"pass","Package":"example.test/slow","Elapsed":31}`+"\n")
		events.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for _, want := range []string{"[0/7  30 s] running  example.test/slow (30 s)\n", "[1/7  31 s] ok "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in:\n%s", want, &out)
			}
		}
	})
}
