package archive

import "io"

// Check reads a whole archive and summarises it. It writes nothing.
func Check(name string, in io.Reader) (Summary, error) { return check(name, in, Import{}) }
