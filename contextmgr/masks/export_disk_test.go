package masks

import "orchestrator/thread/private"

// LogFile is a log that is open for writing.
type LogFile = logFile

// Disk has a store write its logs as a test says, which gets what the store does otherwise.
func (s *Store) Disk(
	open func(*private.Folder, func(*private.Folder) (LogFile, error)) (LogFile, error),
	sync func(*private.Folder, func(*private.Folder) error) error,
) {
	real := s.shelf.disk
	s.shelf.disk = disk{
		open: func(f *private.Folder) (logFile, error) { return open(f, real.open) },
		sync: func(f *private.Folder) error { return sync(f, real.sync) },
	}
}
