package identity

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// TestSecretsCompared: what somebody could guess byte by byte is compared in constant time. A clock proves nothing on a busy machine; so this
// looks for the comparisons that are not.
func TestSecretsCompared(t *testing.T) {
	secrets := []string{"secret", "mac", "state", "nonce", "code", "State", "Nonce", "Fingerprint", "Verifier", "AdminKey", "admin", "hash"}
	compared := 0
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(files["identity"], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == "ConstantTimeCompare" {
				compared++
			}
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ {
				return true
			}
			for _, side := range []ast.Expr{n.X, n.Y} {
				name := ""
				switch s := side.(type) {
				case *ast.Ident:
					name = s.Name
				case *ast.SelectorExpr:
					name = s.Sel.Name
				}
				other := n.Y
				if side == n.Y {
					other = n.X
				}
				if slices.Contains(secrets, name) && !given(other) {
					t.Errorf("%s is compared with %s: use crypto/subtle", name, n.Op)
				}
			}
		}
		return true
	})
	if compared < 4 { // the administrator's key, the fingerprint of a link, state and nonce of a login
		t.Errorf("only %d comparisons in constant time", compared)
	}
}

// given reports whether something is only asked to be there: "", nil, or a number.
func given(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.SelectorExpr: // a code of ours
		x, ok := e.X.(*ast.Ident)
		return ok && x.Name == "holdshort"
	}
	return false
}

// TestTokenPrints: a link's token does not get into a log by accident.
func TestTokenPrints(t *testing.T) {
	for _, text := range printed(Token("very-secret")) {
		if strings.Contains(text, "secret") {
			t.Errorf("printed as %s", text)
		}
	}
	if string(Token("very-secret")) != "very-secret" {
		t.Error("its text is lost")
	}
}

// printed is a value in every way that logs and messages print one.
func printed(v any) []string {
	var text, js bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "t", v)
	slog.New(slog.NewJSONHandler(&js, nil)).Info("x", "t", v)
	return []string{fmt.Sprint(v), fmt.Sprintf("%s %v %+v %#v %q %x", v, v, v, v, v, v), fmt.Sprintf("%v", struct{ T any }{v}), text.String(), js.String()}
}
