package config

import (
	"fmt"
	"strings"

	"orchestrator/ui/plain"
)

// columns is how wide help is, and defaults the room for defaults in it.
const columns, room = 80, 14

// Help returns the settings of a table, or those of none of limits and retention, as a help text lists them: name,
// meaning and default.
func Help(table string) string {
	var rows []setting
	width := 0
	for _, s := range settings() {
		in, _, _ := strings.Cut(s.key, ".")
		if in == table || table == "" && in != "limits" && in != "retention" {
			rows = append(rows, s)
			width = max(width, len(s.key)+2)
		}
	}
	var b strings.Builder
	for _, s := range rows {
		name, def := s.key, s.def
		if def == "" {
			def = s.none
		}
		if def == "" && s.table == nil {
			def = "none"
		}
		for _, line := range plain.Wrap(s.about, columns-2-width-room-2) {
			row := fmt.Sprintf("  %-*s%-*s  %s", width, name, columns-2-width-room-2, line, def)
			b.WriteString(strings.TrimRight(row, " ") + "\n")
			name, def = "", ""
		}
	}
	return b.String()
}
