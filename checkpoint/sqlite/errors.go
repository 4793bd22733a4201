package sqlite

import (
	"errors"

	"orchestrator/checkpoint/sqlfile"
)

// dbError is an error of the database itself, not the refusal of a request.
type dbError struct{ err error }

func (e *dbError) Error() string { return e.err.Error() }
func (e *dbError) Unwrap() error { return e.err }

// db marks an error as the database's.
func db(err error) error {
	if err == nil {
		return nil
	}
	return &dbError{err}
}

func isDB(err error) bool {
	var e *dbError
	return errors.As(err, &e)
}

// translate turns an error of the driver into the domain's. need is the approximate size of the write.
func translate(path string, need int64, err error) error {
	if err == nil || !isDB(err) && sqlfile.Code(err) == 0 {
		return err
	}
	return sqlfile.Translate(path, need, err)
}
