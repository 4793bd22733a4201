package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"orchestrator/thread"
)

// translate turns the driver's errors into the domain's, with hints. None shows the URL or the password.
func (s *Store) translate(err error) error {
	if err == nil || refused(err) {
		return err
	}
	var e *pgconn.PgError
	var c *pgconn.ConnectError
	switch {
	case errors.As(err, &e):
		return s.serverError(e, err)
	case errors.Is(err, errNoAnswer), !s.presence.away().IsZero():
		return thread.Hint(&unreachable{fmt.Errorf("store: %s cannot be reached: %w", s.about,
			&plainError{errNoAnswer.Error(), err})}, "is the database running, and is its address right?")
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("store: %s: %w", s.about, err)
	case errors.As(err, &c), pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return thread.Hint(&unreachable{fmt.Errorf("store: %s cannot be reached: %w", s.about, &plainError{cause(err), err})},
			"is the database running, and is its address right?")
	case isConnectionLost(err):
		return thread.Hint(&unreachable{fmt.Errorf("store: %s: connection lost: %w", s.about, &plainError{cause(err), err})},
			"is the database running?")
	default:
		return fmt.Errorf("store: %s: %w", s.about, err)
	}
}

// isConnectionLost reports whether an error says that an established connection is gone.
func isConnectionLost(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// serverError translates an error that the database itself reports.
func (s *Store) serverError(e *pgconn.PgError, err error) error {
	switch e.Code {
	case "53100", "53200": // disk full, out of memory
		return thread.Hint(fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrDiskFull, e.Message),
			"free some space on the database server; the store then continues on its own")
	case "25006": // read-only transaction
		return thread.Hint(fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrReadOnly, e.Message),
			"connect to the primary server")
	case "XX001", "XX002": // data, index corrupted
		return fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrDamaged, e.Message)
	}
	err = fmt.Errorf("store: %s: %w", s.about, &plainError{fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code), err})
	switch e.Code {
	case "57P01", "57P02", "57P03", "53300":
		err = &unreachable{err}
	}
	if h := hint(e.Code); h != "" {
		return thread.Hint(err, h)
	}
	return err
}

// hint returns a hint for an error of the database, by its SQLSTATE; "" if unknown.
func hint(code string) string {
	switch code {
	case "28P01": // invalid password
		return "check the role and its password, in the URL, in PGPASSWORD or in ~/.pgpass"
	case "28000": // invalid authorization
		return "the role must exist, and pg_hba.conf must allow it to connect from here"
	case "3D000": // no such database
		return "create it: createdb --owner ROLE DATABASE"
	case "42501": // insufficient privilege
		return "the role must own the database, or have CREATE on it and all privileges on the schema " + space
	case "42704": // undefined parameter
		return "check the parameters after the ? in the URL"
	case "08P01": // protocol violation: a pooler does not know our settings
		return "connect to PostgreSQL directly, not through a connection pooler"
	case "53300": // too many connections
		return fmt.Sprintf("raise max_connections of the database, or stop other programs; "+
			"each orchestrator server uses up to %d", connections)
	case "57P01", "57P02", "57P03": // shut down, crashed, starting
		return "the database is stopping or starting; the store continues when it is back"
	default:
		return ""
	}
}

// unreachable is an error that goes away by itself: the store is unchanged.
type unreachable struct{ err error }

func (e *unreachable) Error() string   { return e.err.Error() }
func (e *unreachable) Unwrap() []error { return []error{e.err, thread.ErrUnreachable} }

// plainError is an error on one line, in plain words.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

// cause is the last line of a connection error: the driver lists each way that it tried.
func cause(err error) string {
	if pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) {
		return errNoAnswer.Error()
	}
	lines := strings.Split(err.Error(), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// refused reports whether an error already is one of the domain's.
func refused(err error) bool {
	for _, known := range []error{thread.ErrInvalid, thread.ErrNotFound, thread.ErrNameTaken, thread.ErrDamaged,
		thread.ErrUnsupported, thread.ErrReadOnly} {
		if errors.Is(err, known) {
			return true
		}
	}
	var e *changeError
	return errors.As(err, &e)
}

// changeError carries an error of a change function through a transaction.
type changeError struct{ err error }

func (e *changeError) Error() string { return e.err.Error() }
func (e *changeError) Unwrap() error { return e.err }

func isTaken(err error, constraint string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == constraint
}
