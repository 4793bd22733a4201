package disk

import "orchestrator/thread/private"

// smallFile is the maximum size of a small file of ours or of git's.
const smallFile = 64 << 10

// ReadSmall reads a small file as private.ReadRegular does.
func ReadSmall(path string) ([]byte, error) { return private.ReadRegular(path, smallFile) }
