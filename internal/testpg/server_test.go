package testpg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestClusterSurvivesEveryEnd(t *testing.T) {
	s := Cluster(t)
	address := s.URL()
	conn := connect(t, address)
	run(t, conn, "CREATE TABLE mark (n int)")
	for i, end := range []struct {
		name string
		do   func()
	}{
		{"fast stop", func() { s.Stop(Fast) }},
		{"kill", s.Kill},
		{"immediate stop", func() { s.Stop(Immediate) }},
		{"second kill", s.Kill},
	} {
		run(t, conn, "INSERT INTO mark VALUES (1)")
		end.do()
		if late, err := pgx.Connect(t.Context(), address); err == nil {
			_ = late.Close(t.Context())
			t.Fatalf("%s: the server still answers", end.name)
		}
		s.Start()
		if s.URL() != address {
			t.Fatalf("%s: URL changed from %s to %s", end.name, address, s.URL())
		}
		conn = connect(t, address)
		if got := count(t, conn, "SELECT count(*) FROM mark"); got != i+1 {
			t.Fatalf("after %s and start: %d rows, want %d", end.name, got, i+1)
		}
	}
	if !strings.Contains(s.Log(), "database system was not properly shut down") {
		t.Errorf("the log knows of no crash:\n%s", s.Log())
	}
}

func TestClusterSyncsToDisk(t *testing.T) {
	conn := connect(t, Cluster(t).URL())
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var got string
		if err := conn.QueryRow(t.Context(), "SHOW "+setting).Scan(&got); err != nil || got != "on" {
			t.Errorf("%s = %q, %v; want on: crash tests prove nothing without it", setting, got, err)
		}
	}
}

func TestClusterLeavesNothing(t *testing.T) {
	var dirs []string
	for _, end := range []func(*Server){
		func(*Server) {},
		(*Server).Kill,
		func(s *Server) { s.Stop(Smart) },
	} {
		t.Run("use", func(t *testing.T) {
			s := Cluster(t)
			dirs = append(dirs, s.dir)
			end(s)
		})
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it gone", dir, err)
		}
	}
}

func TestMisuseIsSaid(t *testing.T) {
	s := Cluster(t)
	tests := []struct {
		name, want string
		call       func(*Server)
	}{
		{"start twice", "it is running", (*Server).Start},
		{"stop a stopped one", "it is not running", func(s *Server) { s.Stop(Fast) }},
		{"kill a stopped one", "it is not running", (*Server).Kill},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := judge(t, func(tb testing.TB) {
				double := &Server{t: tb}
				if strings.HasPrefix(tt.name, "start") {
					double.process = s.process
				}
				tt.call(double)
			})
			if !strings.Contains(v.failed, tt.want) {
				t.Errorf("failed with %q, want %q", v.failed, tt.want)
			}
		})
	}
}

func TestNewestBinariesWin(t *testing.T) {
	root := t.TempDir()
	fake := func(dir, version string, programs ...string) string {
		bin := filepath.Join(root, dir)
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
			if err := os.WriteFile(filepath.Join(bin, p), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return bin
	}
	nine := fake("9", "9.6.24", "initdb", "postgres")
	fifteen := fake("15", "15.14 (Debian 15.14-0+deb12u1)", "initdb", "postgres")
	fifteenOld := fake("15old", "15.9", "initdb", "postgres")
	nineteen := fake("19", "19devel", "initdb", "postgres")
	clientOnly := fake("20", "20.1", "psql")
	odd := fake("odd", "unreadable", "initdb", "postgres")

	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"by number, not by spelling", []string{nine, fifteen}, fifteen},
		{"minor version too", []string{fifteen, fifteenOld}, fifteen},
		{"a development version", []string{nineteen, fifteen}, nineteen},
		{"a client without a server does not count", []string{clientOnly, nine}, nine},
		{"nor does what has no version", []string{odd, nine}, nine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newest(t.Context(), tt.candidates)
			if err != nil || got != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	if got, err := newest(t.Context(), []string{clientOnly, odd, filepath.Join(root, "none")}); !errors.Is(err, errNoBinaries) {
		t.Errorf("got %q, %v; want errNoBinaries", got, err)
	}
}

func TestFolderWhereTheServersUserMayNotGo(t *testing.T) {
	bin, err := binaries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, bin: bin}
	if err := s.makeFolder(t.Context(), filepath.Join(closed, "missing"), closed, "/tmp"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	// Root gives the server away to a user who cannot enter; anybody else runs it himself and can.
	want := closed
	if os.Geteuid() == 0 {
		want = "/tmp"
	}
	if got := filepath.Dir(s.dir); got != want {
		t.Errorf("folder in %s, want %s", got, want)
	}
	if left, err := os.ReadDir(closed); err != nil || want != closed && len(left) != 0 {
		t.Errorf("left behind in the closed folder: %v, %v", left, err)
	}
}
