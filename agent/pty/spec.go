package pty

// Spec is a program to start.
type Spec struct {
	Path string
	Args []string // without the program itself
	Env  []string
	Dir  string
	// Owner is an entry KEY=VALUE of Env that identifies the owner of the process; Sweep uses it to find what a killed
	// Host left behind.
	Owner string
	// Piped gives the program pipes in place of a terminal, as its standard input, output and error.
	Piped      bool
	Cols, Rows int // of the terminal
	// Errors receives what a piped program prints on its standard error, as Output does, on a goroutine of its own.
	Errors func([]byte)
	// Output receives everything else that the program prints, in order, on one goroutine. It must not keep the bytes after it
	// returns. Nothing more is read while it runs.
	Output func([]byte)
	// Turn, if set, waits for this process's turn to be read and returns a function that ends it. A turn covers one read
	// and its Output. Limiting turns limits the processors and OS threads that many processes use.
	Turn func() (end func())
	// Exited is called once, after the last Output, when the program itself has ended; what it left behind may still run
	// until Done, but of a piped program nothing is left.
	Exited func(code int)
}
