package replica

import (
	"debug/elf"
	"os"
)

// Build identifies a program's build: by the build id that the Go linker writes into it, which depends on its content,
// or by a hash of the file if it has none.
func Build(self *os.File) (string, error) {
	if id := linkerID(self); id != "" {
		return id, nil
	}
	return hashOf(self)
}

// linkerID reads the note .note.go.buildid of an ELF file, where three 32-bit sizes and the name "Go" padded to four
// bytes precede the id (see cmd/internal/buildid). It returns "" if there is none.
func linkerID(self *os.File) string {
	const header = 16
	f, err := elf.NewFile(self)
	if err != nil {
		return ""
	}
	s := f.Section(".note.go.buildid")
	if s == nil || s.Size <= header || s.Size > 4<<10 {
		return ""
	}
	note, err := s.Data()
	if err != nil {
		return ""
	}
	n := f.ByteOrder.Uint32(note[4:8])
	if uint64(n) > s.Size-header {
		return ""
	}
	return string(note[header : header+n])
}
