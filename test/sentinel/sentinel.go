// Package sentinel lists the sentinels of package broker for tests of doors.
package sentinel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/process"
)

var all = map[string]error{
	"ErrNotFound": broker.ErrNotFound, "ErrInvalid": broker.ErrInvalid, "ErrExists": broker.ErrExists,
	"ErrConflict": broker.ErrConflict, "ErrPrecondition": broker.ErrPrecondition, "ErrDenied": broker.ErrDenied,
	"ErrQuota": broker.ErrQuota, "ErrUnsupported": broker.ErrUnsupported, "ErrUnauthorized": broker.ErrUnauthorized,
	"ErrForbidden": broker.ErrForbidden, "ErrUnreachable": broker.ErrUnreachable, "ErrUnavailable": broker.ErrUnavailable,
	"ErrUnopenable": broker.ErrUnopenable,
}

// All returns the sentinels by name. It fails the test if broker/errors.go has others.
func All(t testing.TB) map[string]error {
	t.Helper()
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "broker/errors.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Err") && all[spec.Names[0].Name] == nil {
			t.Errorf("broker has a sentinel %s that this list lacks", spec.Names[0].Name)
		}
		return true
	})
	return all
}
