package config

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/ui/plain"
)

// columns is how wide help is, and defaults the room for defaults in it.
const columns, room = 80, 14

// apart are the tables that help lists by themselves.
var apart = []string{"limits", "retention", "context", "runs", "checks"}

// Help returns the settings of a table, or those that are in none of those above, as a help text lists them: name,
// meaning and default.
func Help(table string) string {
	var rows []setting
	width := 0
	for _, s := range settings() {
		in, _, _ := strings.Cut(s.key, ".")
		if in == table || table == "" && !slices.Contains(apart, in) {
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
