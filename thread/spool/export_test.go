package spool

import "os"

// SyncBy has a spool make things durable by these.
func (s *Spool) SyncBy(file func(*os.File) error, names func() error) {
	s.sync, s.syncNames = file, names
}
