package sqlite

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// handle is a connection to SQLite itself, without database/sql: every statement of every transaction passes here, and the layers between would
// cost as much as the statements. It is used by one goroutine at a time, so SQLite need not lock it. What SQLite reads while a statement runs
// is copied into memory of its own, where no collector moves or frees it.
type handle struct {
	tls   *libc.TLS
	db    uintptr
	arena uintptr // parameters of the statement under way
	room  int
}

// failure is what SQLite says.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return fmt.Sprintf("%s (%d)", f.text, f.code) }

func openHandle(path string) (*handle, error) {
	h := &handle{tls: libc.NewTLS()}
	name := h.text(path)
	defer h.free(name)
	into := lib.Xsqlite3_malloc(h.tls, int32(unsafe.Sizeof(h.db)))
	defer h.free(into)
	rc := lib.Xsqlite3_open_v2(h.tls, name, into, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE|lib.SQLITE_OPEN_NOMUTEX, 0)
	h.db = number(into)
	if rc != lib.SQLITE_OK {
		err := h.failed(rc)
		h.close()
		return nil, err
	}
	lib.Xsqlite3_extended_result_codes(h.tls, h.db, 1)
	h.keepPlans()
	return h, nil
}

// keepPlans has a statement keep the plan that it was prepared with. Without it each new value of a limit is looked at by the planner, and the
// statement is prepared anew every time it is run.
func (h *handle) keepPlans() {
	on := libc.NewVaList(int32(1), uintptr(0))
	defer libc.Xfree(h.tls, on)
	lib.Xsqlite3_db_config(h.tls, h.db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, on)
}

func (h *handle) close() error {
	rc := lib.Xsqlite3_close_v2(h.tls, h.db)
	h.free(h.arena)
	var err error
	if rc != lib.SQLITE_OK {
		err = &failure{int(rc), "close"}
	}
	h.tls.Close()
	return err
}

func (h *handle) failed(rc int32) error {
	text := "out of memory"
	if h.db != 0 {
		text = libc.GoString(lib.Xsqlite3_errmsg(h.tls, h.db))
	}
	return &failure{int(rc), text}
}

// memory is n bytes of SQLite's own, from an address on. Go's collector knows nothing of them.
func memory(address uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), n)
}

// number is the address that stands at an address.
func number(address uintptr) uintptr { return **(**uintptr)(unsafe.Pointer(&address)) }

// text copies s, with its end marked; free it.
func (h *handle) text(s string) uintptr {
	p := lib.Xsqlite3_malloc(h.tls, int32(len(s)+1))
	if p == 0 {
		panic("SQLite has no memory for a name")
	}
	to := memory(p, len(s)+1)
	copy(to, s)
	to[len(s)] = 0
	return p
}

func (h *handle) free(p uintptr) {
	if p != 0 {
		lib.Xsqlite3_free(h.tls, p)
	}
}

// exec runs a text of any number of statements.
func (h *handle) exec(text string) error {
	p := h.text(text)
	defer h.free(p)
	if rc := lib.Xsqlite3_exec(h.tls, h.db, p, 0, 0, 0); rc != lib.SQLITE_OK {
		return h.failed(rc)
	}
	return nil
}

// prepared is a statement that can be run over and over.
type prepared struct {
	handle     *handle
	pointer    uintptr
	parameters int
}

func (h *handle) prepare(text string) (*prepared, error) {
	p := h.text(text)
	defer h.free(p)
	into := lib.Xsqlite3_malloc(h.tls, int32(unsafe.Sizeof(h.db)))
	defer h.free(into)
	if rc := lib.Xsqlite3_prepare_v3(h.tls, h.db, p, int32(len(text)), lib.SQLITE_PREPARE_PERSISTENT, into, 0); rc != lib.SQLITE_OK {
		return nil, h.failed(rc)
	}
	s := &prepared{handle: h, pointer: number(into)}
	s.parameters = int(lib.Xsqlite3_bind_parameter_count(h.tls, s.pointer))
	return s, nil
}

func (s *prepared) close() { lib.Xsqlite3_finalize(s.handle.tls, s.pointer) }

// run binds the parameters and hands each row to each, until the end, an error or the end of the context.
func (s *prepared) run(ctx context.Context, args []any, each func(scan func(...any) error) error) (err error) {
	h := s.handle
	if ctx.Done() != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		defer h.interruptible(ctx, &err)()
	}
	defer lib.Xsqlite3_reset(h.tls, s.pointer) // what it gives is the error that step gave
	if err := s.bind(args); err != nil {
		return err
	}
	for {
		switch rc := lib.Xsqlite3_step(h.tls, s.pointer); rc {
		case lib.SQLITE_DONE:
			return nil
		case lib.SQLITE_ROW:
			if each == nil {
				continue
			}
			if err := each(s.scan); err != nil {
				return err
			}
		default:
			return h.failed(rc)
		}
	}
}

// interruptible ends the statement under way when the context ends.
func (h *handle) interruptible(ctx context.Context, err *error) (end func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		tls := libc.NewTLS()
		defer tls.Close()
		lib.Xsqlite3_interrupt(tls, h.db)
	})
	return func() {
		if stop() {
			return
		}
		<-over // the next statement must not be hit
		if f, ok := (*err).(*failure); ok && f.code == lib.SQLITE_INTERRUPT {
			*err = ctx.Err()
		}
	}
}

// bind gives the parameters. They are copied side by side into the arena, which nobody else uses while the statement runs.
func (s *prepared) bind(args []any) error {
	h := s.handle
	if len(args) != s.parameters {
		return &failure{lib.SQLITE_RANGE, fmt.Sprintf("%d parameters for a statement of %d", len(args), s.parameters)}
	}
	need := 1
	for _, a := range args {
		switch v := a.(type) {
		case string:
			need += len(v)
		case []byte:
			need += len(v)
		}
	}
	if need > h.room {
		h.free(h.arena)
		h.room = max(2*need, 4096)
		if h.arena = lib.Xsqlite3_malloc64(h.tls, uint64(h.room)); h.arena == 0 {
			h.room = 0
			return &failure{lib.SQLITE_NOMEM, "no memory for the parameters"}
		}
	}
	at := 0
	keep := func(bytes string) (uintptr, int32) {
		p := h.arena + uintptr(at)
		at += copy(memory(p, len(bytes)), bytes)
		return p, int32(len(bytes))
	}
	for i, a := range args {
		var rc int32
		switch v := a.(type) {
		case int64:
			rc = lib.Xsqlite3_bind_int64(h.tls, s.pointer, int32(i+1), v)
		case string:
			p, n := keep(v)
			rc = lib.Xsqlite3_bind_text(h.tls, s.pointer, int32(i+1), p, n, 0)
		case []byte:
			p, n := keep(unsafe.String(unsafe.SliceData(v), len(v)))
			rc = lib.Xsqlite3_bind_blob(h.tls, s.pointer, int32(i+1), p, n, 0)
		default:
			return &failure{lib.SQLITE_MISMATCH, fmt.Sprintf("a parameter of type %T", a)}
		}
		if rc != lib.SQLITE_OK {
			return h.failed(rc)
		}
	}
	return nil
}

// scan copies the columns of the row under way.
func (s *prepared) scan(dest ...any) error {
	h := s.handle
	if n := int(lib.Xsqlite3_column_count(h.tls, s.pointer)); n != len(dest) {
		return &failure{lib.SQLITE_RANGE, fmt.Sprintf("%d destinations for %d columns", len(dest), n)}
	}
	for i, d := range dest {
		i := int32(i)
		switch d := d.(type) {
		case *string:
			*d = string(s.bytes(i))
		case *int64:
			*d = lib.Xsqlite3_column_int64(h.tls, s.pointer, i)
		case *int:
			*d = int(lib.Xsqlite3_column_int64(h.tls, s.pointer, i))
		case *[]byte:
			*d = append([]byte{}, s.bytes(i)...)
		default: // ids and their kin
			switch v := reflect.ValueOf(d); {
			case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.String:
				v.Elem().SetString(string(s.bytes(i)))
			case v.Kind() == reflect.Pointer && v.Elem().CanInt():
				v.Elem().SetInt(lib.Xsqlite3_column_int64(h.tls, s.pointer, i))
			default:
				return &failure{lib.SQLITE_MISMATCH, fmt.Sprintf("a destination of type %T", d)}
			}
		}
	}
	return nil
}

// bytes are the column's own: they are gone with the next step.
func (s *prepared) bytes(column int32) []byte {
	tls := s.handle.tls
	p := lib.Xsqlite3_column_blob(tls, s.pointer, column)
	if p == 0 {
		return nil
	}
	return memory(p, int(lib.Xsqlite3_column_bytes(tls, s.pointer, column)))
}

// steps returns how many steps the virtual machine took for the statement since the last call.
func (s *prepared) steps() int {
	return int(lib.Xsqlite3_stmt_status(s.handle.tls, s.pointer, lib.SQLITE_STMTSTATUS_VM_STEP, 1))
}

// changes is how many rows the last statement changed.
func (h *handle) changes() int64 { return int64(lib.Xsqlite3_changes(h.tls, h.db)) }
