package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/creack/pty"
)

// Hostile is what a model, a file, a name or a message may hold to act on the person's terminal.
var Hostile = strings.Join([]string{
	"\x1b]0;owned\a", "\x1b]1;icon\x1b\\", "\x1b]2;title\x1b\\", "\x1b]4;1;?\x1b\\", "\x1b]7;file://x/\x1b\\",
	"\x1b]8;;file:///bin/sh\x1b\\https://good\x1b]8;;\x1b\\", "\x1b]9;note\a", "\x1b]10;?\a", "\x1b]11;?\a", "\x1b]50;?\a", "\x1b]52;c;b3duZWQ=\a",
	"\x1b]133;A\a", "\x1b]777;notify;x;y\a", "\x1b]1337;File=inline=1:aGk=\a", "\x1bP$qm\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\",
	"\x1b[21t", "\x1b[c", "\x1b[6n", "\x1bkname\x1b\\", "\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\", "\x1bc", "\u009d52;c;eA==\u009c", "\u009b6n", "\u0090$qm\u009c",
	"\a\b\v\f\x0e\x0f\x7f", "shown\rhidden", "\u202eexe.txt\u202c", "\u2066x\u2069", "\u200e\u200f\u061c", "zero\u200bwidth\u2060\ufeff", "\U000e0041\U000e007f",
	"a\u200db\u200cc", "x\ufe0f\U000e0100",
}, "")

// Harms returns what of an output a terminal would act on, or a person not see.
func Harms(out []byte) string {
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")) // the terminal's own
	if !utf8.Valid(out) {
		return "bytes that are no UTF-8"
	}
	for _, r := range string(out) {
		switch {
		case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r >= 0x200b && r <= 0x200f, r == 0x61c, r == 0xfeff, r >= 0x2060 && r <= 0x2064, r >= 0xe0000 && r <= 0xe01ef, r == 0xfe0f:
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// Record calls the program with a terminal for its output and returns every byte that came there.
func (r *Rig) Record(args ...string) []byte {
	r.T.Helper()
	cmd := r.Command(args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		r.T.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // ends with EIO when the program has ended
	_ = cmd.Wait()           // its exit code is not what this is about
	return out.Bytes()
}

// Clean calls the program with and without --json and holds that nothing harmful is printed; it returns both outputs.
func (r *Rig) Clean(args ...string) string {
	r.T.Helper()
	at := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		at = i
	}
	var all []byte
	for _, call := range [][]string{args, slices.Insert(slices.Clone(args), at, "--json")} {
		out := r.Record(call...)
		if bad := Harms(out); bad != "" {
			r.T.Errorf("orchestrator %q prints %s:\n%q", call, bad, out)
		}
		all = append(all, out...)
	}
	return string(all)
}
