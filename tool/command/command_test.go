package command

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdshort/holdshort"
	"github.com/holdshort/holdshort/tool"
)

func newTool(t *testing.T, c Config) tool.Tool {
	t.Helper()
	made, err := New("run", c)
	if err != nil {
		t.Fatal(err)
	}
	if made, err = made.Prepare(); err != nil {
		t.Fatal(err)
	}
	return made
}

func callWith(t *testing.T, made tool.Tool, args string) (Output, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	result, err := made.Call(ctx, tool.Call{Tenant: "acme", RunID: "run_1", OperationID: "tr:run_1/do", Args: json.RawMessage(args)})
	var out Output
	if err == nil {
		if err := json.Unmarshal(result.Value, &out); err != nil {
			t.Fatalf("%s: %v", result.Value, err)
		}
	}
	return out, err
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		field  string
	}{
		{"nothing", Config{}, "argv"},
		{"an empty program", Config{Argv: []string{""}}, "argv"},
		{"a program of the caller", Config{Argv: []string{"{program}"}}, "argv"},
		{"a program with a part of the caller", Config{Argv: []string{"/usr/bin/{program}"}}, "argv"},
		{"both", Config{Argv: []string{"ls"}, Shell: true}, "argv"},
		{"no template", Config{Argv: []string{"ls", "{"}}, "argv"},
		{"a zero byte", Config{Argv: []string{"ls", "a\x00"}}, "argv"},
		{"an unknown effect", Config{Argv: []string{"ls"}, Effect: "reed"}, "effect"},
		{"too much output", Config{Argv: []string{"ls"}, MaxOutput: 1 << 30}, "max_output"},
		{"negative time", Config{Argv: []string{"ls"}, Timeout: -1}, "timeout"},
		{"an exit code that is both", Config{Argv: []string{"ls"}, DefiniteExit: []int{0}}, "definite_exit"},
		{"a variable that is none", Config{Argv: []string{"ls"}, Env: map[string]string{"A=B": "c"}}, "env"},
		{"a variable with a zero byte", Config{Argv: []string{"ls"}, Env: map[string]string{"A": "\x00"}}, "env"},
		{"a variable with its value", Config{Argv: []string{"ls"}, Pass: []string{"A=b"}}, "pass"},
		{"an argument that the schema has not", Config{Argv: []string{"ls", "{path}"}, Schema: json.RawMessage(`{"properties":{"dir":{}}}`)}, "schema"},
		{"input that is no template", Config{Argv: []string{"cat"}, Stdin: "{"}, "stdin"},
		{"shell code", Config{Argv: []string{"sh", "-c", "echo {text}"}}, "argv"},
		{"shell code of the caller", Config{Argv: []string{"/bin/bash", "-ec", "{text}"}}, "argv"},
		{"shell code behind a prefix", Config{Argv: []string{"env", "A=b", "bash", "-c", "ls {x}"}}, "argv"},
		{"shell code with sudo", Config{Argv: []string{"sudo", "-u", "ben", "sh", "-c", "{x}"}}, "argv"},
		{"shell code in an option", Config{Argv: []string{"node", "--eval={x}"}}, "argv"},
		{"Python code", Config{Argv: []string{"python3", "-c", "print({x})"}}, "argv"},
		{"Python code at once", Config{Argv: []string{"python3.12", "-cprint({x})"}}, "argv"},
		{"Perl code", Config{Argv: []string{"perl", "-ne", "print if /{x}/"}}, "argv"},
		{"awk code", Config{Argv: []string{"awk", "/{x}/ {{print}}", "file"}}, "argv"},
		{"sed code", Config{Argv: []string{"sed", "-n", "s/a/{x}/"}}, "argv"},
		{"a program behind env", Config{Argv: []string{"env", "{x}"}}, "argv"},
		{"a program behind sudo", Config{Argv: []string{"sudo", "-n", "{x}"}}, "argv"},
		{"a line for a shell elsewhere", Config{Argv: []string{"ssh", "host", "ls {x}"}}, "argv"},
		{"a line for a shell of another", Config{Argv: []string{"su", "ben", "-c", "ls {x}"}}, "argv"},
		{"a program that find runs", Config{Argv: []string{"find", ".", "-exec", "{x}", ";"}}, "argv"},
		{"a program behind a time", Config{Argv: []string{"timeout", "5", "{x}"}}, "argv"},
		{"a program behind a time of the caller", Config{Argv: []string{"timeout", "{n}", "{x}"}}, "argv"},
		{"a program behind a variable", Config{Argv: []string{"env", "A=b", "{x}", "ls"}}, "argv"},
		{"a line that is watched", Config{Argv: []string{"watch", "-n", "1", "ls {x}"}}, "argv"},
		{"a line that is run in parallel", Config{Argv: []string{"parallel", "echo {x}"}}, "argv"},
		{"shell code behind --", Config{Argv: []string{"sh", "-c", "--", "echo {x}"}}, "argv"},
		{"shell code in a container", Config{Argv: []string{"docker", "exec", "c", "sh", "-c", "echo {x}"}}, "argv"},
		{"shell code under a lock", Config{Argv: []string{"flock", "f", "-c", "echo {x}"}}, "argv"},
		{"shell code on a record", Config{Argv: []string{"script", "-c", "{x}"}}, "argv"},
		{"a debugger's command", Config{Argv: []string{"gdb", "-ex", "{x}"}}, "argv"},
		{"shell code as input", Config{Argv: []string{"sh"}, Stdin: "echo {x}"}, "stdin"},
		{"shell code as input, said so", Config{Argv: []string{"bash", "-s"}, Stdin: "{x}"}, "stdin"},
	}
	for _, tt := range tests {
		_, err := New("run", tt.config)
		var e *holdshort.Error
		if !errors.As(err, &e) || e.Code != holdshort.Invalid || e.Field != tt.field || e.Hint == "" {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, argv := range [][]string{{"sh", "-c", `echo "$1"`, "--", "{text}"}, {"python3", "script.py", "{x}"}, {"sh", "script.sh", "{x}"}, {"awk", "{{print}}", "{file}"}, {"git", "log", "-c", "{x}"}, {"ssh", "{host}"}, {"timeout", "{n}", "ls"}, {"find", ".", "-name", "{x}"}, {"sudo", "-n", "ls", "{x}"}, {"env", "A=b", "ls", "{x}"},
		{"docker", "exec", "c", "ls", "{x}"}, {"python3", "-c", "import sys; print(sys.argv[1:])", "{x}"}, {"sed", "-n", "1p", "{file}"}, {"grep", "-c", "{x}"}} {
		if _, err := New("run", Config{Argv: argv}); err != nil {
			t.Errorf("%v: %v", argv, err)
		}
	}
}

func TestDeclaration(t *testing.T) {
	made := newTool(t, Config{Argv: []string{"cp", "{from}", "{to.dir}", "--n={n?}"}, Stdin: "{text}"})
	if made.Effect != tool.Write || made.Guarded || made.Timeout != tool.DefaultTimeout || made.Reconcile != nil {
		t.Errorf("is %+v", made)
	}
	if got := string(made.Schema); got != `{"properties":{"from":{},"n":{},"text":{},"to":{}},"required":["from","text","to"],"type":"object"}` {
		t.Errorf("the schema is %s", got)
	}
	shell := newTool(t, Config{Shell: true})
	if !shell.Guarded || shell.Validate(json.RawMessage(`{}`)) == nil || shell.Validate(json.RawMessage(`{"command":"ls"}`)) != nil {
		t.Errorf("a shell is %+v", shell)
	}
}

// A value is one argument, whatever it holds.
func TestValuesAreArguments(t *testing.T) {
	made := newTool(t, Config{Argv: []string{"sh", "-c", `for a; do printf '%s\036' "$a"; done`, "sh", "first", "--name={a}", "--", "{b}", "x {c} y", "{d?}", "last"}})
	check := func(r interface {
		Fatalf(string, ...any)
	}, a, b, c string) {
		args, err := json.Marshal(map[string]string{"a": a, "b": b, "c": c})
		if err != nil {
			r.Fatalf("%v", err)
		}
		out, err := callWith(t, made, string(args))
		if strings.ContainsRune(a+b+c, 0) {
			if err == nil || !made.IsDefinite(err) {
				r.Fatalf("a zero byte gives %v", err)
			}
			return
		}
		if err != nil {
			r.Fatalf("%q: %v", args, err)
		}
		got := strings.Split(strings.TrimSuffix(out.Stdout, "\x1e"), "\x1e")
		want := []string{"first", "--name=" + a, "--", b, "x " + c + " y", "last"}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			r.Fatalf("%q arrives as %q", want, got)
		}
	}
	for _, text := range []string{"", "a b", "; rm -rf /", "$(id)", "`id`", "-rf", "--help", "a\nb", "*", "~", "'", `"`, `\`, "$HOME", "{a}", "ä", "a\x00b", "\u202e"} {
		check(t, text, text, text)
	}
	pieces := rapid.SampledFrom([]string{"-", " ", ";", "$(x)", "'", `"`, "\n", "a", "\\", "*", "\t", "{b}", "ü", "|", "&", ">"})
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(pieces, 0, 5).Draw(r, name), "") }
		check(r, draw("a"), draw("b"), draw("c"))
	})
}

// A value that would be an option is refused before anything starts.
func TestOptionsAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made")
	made := newTool(t, Config{Argv: []string{"touch", "{a}", file}})
	for _, value := range []string{"-x", "--help", "-", "--reference=/etc/passwd"} {
		_, err := callWith(t, made, `{"a":`+strconv.Quote(value)+`}`)
		var f *tool.Fault
		if !errors.As(err, &f) || f.Field != "a" || !made.IsDefinite(err) {
			t.Errorf("%q: %v", value, err)
		}
	}
	if _, err := callWith(t, made, `{"a":-5}`); err == nil {
		t.Error("-5 is taken")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran")
	}
	for _, args := range []string{`{}`, `{"a":null}`, `{"a":["x"]}`, `{"a":{}}`, `{"a":"` + strings.Repeat("x", 200<<10) + `"}`} {
		if _, err := callWith(t, made, args); err == nil || !made.IsDefinite(err) {
			t.Errorf("%.40s: %v", args, err)
		}
	}
}

// The program sees nothing of this process's environment but PATH and what is listed.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_KEY", "s3cret")
	t.Setenv("LISTED", "yes")
	t.Setenv("OVER", "outer")
	made := newTool(t, Config{Argv: []string{"env"}, Pass: []string{"LISTED", "OVER", "NOT_THERE"}, Env: map[string]string{"OVER": "inner", "OWN": "{not a template"}})
	out, err := callWith(t, made, `{}`)
	want := "HOLDSHORT_OPERATION_ID=tr:run_1/do\nLISTED=yes\nOVER=inner\nOWN={not a template\nPATH=" + os.Getenv("PATH") + "\n"
	if err != nil || out.Stdout != want {
		t.Errorf("has %q, %v", out.Stdout, err)
	}
}

// What the environment holds that is secret does not come back.
func TestSecretsOfTheEnvironment(t *testing.T) {
	t.Setenv("SHOP_TOKEN", "passed-s3cret")
	made := newTool(t, Config{Argv: []string{"sh", "-c", `echo "$SHOP_TOKEN $API_KEY $MODE"; echo "$API_KEY" >&2; exit "$1"`, "--", "{code}"}, Pass: []string{"SHOP_TOKEN"}, Env: map[string]string{"API_KEY": "own-s3cret", "MODE": "production"}})
	out, err := callWith(t, made, `{"code":0}`)
	if err != nil || out.Stdout != "[secret] [secret] production\n" || out.Stderr != "[secret]\n" {
		t.Errorf("gives %+v, %v", out, err)
	}
	if _, err := callWith(t, made, `{"code":1}`); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("gives %v", err)
	}
}

func TestFolderAndInput(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := callWith(t, newTool(t, Config{Argv: []string{"sh", "-c", "pwd; cat"}, Dir: dir, Stdin: "hello {name}: {@args}"}), `{"name":"$(id)"}`)
	if err != nil || out.Stdout != dir+"\nhello $(id): {\"name\":\"$(id)\"}" {
		t.Errorf("gives %q, %v", out.Stdout, err)
	}
	if out, err = callWith(t, newTool(t, Config{Argv: []string{"cat"}}), `{}`); err != nil || out.Stdout != "" {
		t.Errorf("without input: %+v, %v", out, err)
	}
	if out, err = callWith(t, newTool(t, Config{Argv: []string{"true"}, Stdin: "{text}"}), `{"text":"`+strings.Repeat("x", 300<<10)+`"}`); err != nil || out.ExitCode != 0 {
		t.Errorf("input that nobody reads: %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name     string
		config   Config
		code     int
		ok       bool
		definite bool
	}{
		{"a write that succeeds", Config{}, 0, true, false},
		{"a write that fails", Config{}, 1, false, false},
		{"a write that refuses", Config{DefiniteExit: []int{2}}, 2, false, true},
		{"a write that fails otherwise", Config{DefiniteExit: []int{2}}, 3, false, false},
		{"a write with its own success", Config{Success: []int{0, 3}}, 3, true, false},
		{"a read that fails", Config{Effect: tool.Read}, 1, true, false},
	}
	for _, tt := range tests {
		tt.config.Argv = []string{"sh", "-c", `echo out; echo "went wrong" >&2; exit "$1"`, "--", "{code}"}
		made := newTool(t, tt.config)
		out, err := callWith(t, made, `{"code":`+strconv.Itoa(tt.code)+`}`)
		if (err == nil) != tt.ok || made.IsDefinite(err) != tt.definite {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil && (out.ExitCode != tt.code || out.Stdout != "out\n" || out.Stderr != "went wrong\n") {
			t.Errorf("%s: %+v", tt.name, out)
		}
		if err != nil && !strings.Contains(err.Error(), "went wrong") {
			t.Errorf("%s: %v does not say what it said", tt.name, err)
		}
	}
}

// What never started did nothing; what was killed may have.
func TestStartsAndKills(t *testing.T) {
	for _, c := range []Config{{Argv: []string{"no-such-program-here"}}, {Argv: []string{"/"}}, {Argv: []string{"ls"}, Dir: "/no/such/folder"}} {
		made := newTool(t, c)
		if _, err := callWith(t, made, `{}`); err == nil || !made.IsDefinite(err) {
			t.Errorf("%v: %v", c.Argv, err)
		}
	}
	for _, effect := range []tool.Effect{tool.Read, tool.Write} {
		made := newTool(t, Config{Argv: []string{"sh", "-c", "kill -9 $$"}, Effect: effect})
		if _, err := callWith(t, made, `{}`); err == nil || made.IsDefinite(err) {
			t.Errorf("%s: killed gives %v", effect, err)
		}
	}
	made := newTool(t, Config{Argv: []string{"true"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := made.Call(ctx, tool.Call{}); err == nil || !made.IsDefinite(err) {
		t.Errorf("canceled before it starts: %v", err)
	}
}

// gone waits until a process is no longer there.
func gone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(5 * time.Minute)
	for syscall.Kill(pid, 0) == nil {
		state, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if strings.Contains(string(state), ") Z ") { // dead, and nobody of ours to reap it
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// At the deadline everything that it started dies with it.
func TestDeadlineKillsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	made := newTool(t, Config{Argv: []string{"sh", "-c", `trap "" TERM INT; sh -c 'echo $$ > "$0"; echo ready > "$0.fifo"; exec sleep 1000' "$1" & wait; sleep 1000`, "--", "{file}"}})
	if err := exec.Command("mkfifo", file+".fifo").Run(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, _ = os.ReadFile(file + ".fifo")
		cancel(context.DeadlineExceeded)
	}()
	began := time.Now()
	_, err := made.Call(ctx, tool.Call{Args: json.RawMessage(`{"file":` + strconv.Quote(file) + `}`)})
	if !errors.Is(err, context.DeadlineExceeded) || made.IsDefinite(err) || time.Since(began) > time.Minute {
		t.Errorf("gives %v after %v", err, time.Since(began))
	}
	gone(t, readPID(t, file))
}

// What a program leaves running ends with it, and does not hold up its result.
func TestNothingIsLeftRunning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	made := newTool(t, Config{Argv: []string{"sh", "-c", `sh -c 'echo $$ > "$0"; echo ready > "$0.fifo"; exec sleep 1000' "$1" & read line < "$1.fifo"; echo done`, "--", "{file}"}})
	if err := exec.Command("mkfifo", file+".fifo").Run(); err != nil {
		t.Fatal(err)
	}
	out, err := callWith(t, made, `{"file":`+strconv.Quote(file)+`}`)
	if err != nil || out.Stdout != "done\n" {
		t.Errorf("gives %+v, %v", out, err)
	}
	gone(t, readPID(t, file))
}

func TestOutput(t *testing.T) {
	run := func(script string, most int) Output {
		t.Helper()
		out, err := callWith(t, newTool(t, Config{Argv: []string{"sh", "-c", script}, MaxOutput: most, Effect: tool.Read}), `{}`)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := run("printf 0123456789", 10); out.Stdout != "0123456789" || out.Truncated {
		t.Errorf("what fits: %+v", out)
	}
	if out := run("printf 0123456789abc; printf x >&2", 10); out.Stdout != "01234\n… 3 bytes left out …\n89abc" || !out.Truncated || out.Stderr != "x" {
		t.Errorf("what does not: %+v", out)
	}
	if out := run("head -c 50000000 /dev/zero | tr '\\0' a; printf end", 1000); len(out.Stdout) > 1100 || !strings.HasSuffix(out.Stdout, "end") || !out.Truncated {
		t.Errorf("50 MB give %d bytes", len(out.Stdout))
	}
	if out := run(`printf 'ääääääääää'`, 7); out.Stdout != "ää\n… 13 bytes left out …\nä" {
		t.Errorf("letters of two bytes: %q", out.Stdout)
	}
	if out := run(`printf 'a\000b\377'`, 100); out.Stdout != "(binary, 4 bytes)" || out.StdoutBase64 != base64.StdEncoding.EncodeToString([]byte("a\x00b\xff")) {
		t.Errorf("binary: %+v", out)
	}
	if out := run(`head -c 1000 /dev/zero`, 10); out.Stdout != "(binary, 1000 bytes)" || out.StdoutBase64 != "AAAAAAA=" || !out.Truncated {
		t.Errorf("long binary: %+v", out)
	}
	if out := run(`printf 'caf\351 au lait, s il vous plait'`, 100); out.Stdout != "caf\uFFFD au lait, s il vous plait" {
		t.Errorf("another encoding: %q", out.Stdout)
	}
	if out := run(`printf 'abcdef'; head -c 10 /dev/zero`, 10); out.Stdout != "abcde\n… 11 bytes left out …\n" || !out.Truncated {
		t.Errorf("binary at the end: %+v", out)
	}
	if out := run(`printf abc`, 1); out.Stdout != "a\n… 2 bytes left out …\n" {
		t.Errorf("one byte: %q", out.Stdout)
	}
}

// The tape gives back what was written, or its beginning and its end, however it was written.
func TestTape(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		most := rapid.IntRange(1, 50).Draw(r, "most")
		tape := newTape(most)
		var all []byte
		for _, piece := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,30}`)).Draw(r, "pieces") {
			all = append(all, piece...)
			if n, err := tape.Write([]byte(piece)); n != len(piece) || err != nil {
				r.Fatalf("%d, %v", n, err)
			}
		}
		got, front := string(tape.bytes()), (most+1)/2
		if len(all) <= most {
			if got != string(all) || tape.cut() {
				r.Fatalf("%q became %q", all, got)
			}
			return
		}
		if !tape.cut() || !strings.HasPrefix(got, string(all[:front])+"\n… ") || !strings.HasSuffix(got, " …\n"+string(all[len(all)-(most-front):])) {
			r.Fatalf("%q became %q", all, got)
		}
	})
}

func TestShell(t *testing.T) {
	made := newTool(t, Config{Shell: true, Effect: tool.Read})
	out, err := callWith(t, made, `{"command":"echo a | tr a b; exit 3"}`)
	if err != nil || out.Stdout != "b\n" || out.ExitCode != 3 {
		t.Errorf("gives %+v, %v", out, err)
	}
	for _, args := range []string{`{}`, `{"command":"a\u0000b"}`, `{"command":["a"]}`} {
		if _, err := callWith(t, made, args); err == nil || !made.IsDefinite(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
