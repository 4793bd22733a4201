// Package keyhelp draws a row of key hints: as many as fit into its box, and a mark if some are left out.
package keyhelp

import (
	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"

	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// separator stands between keys.
const separator = "  "

// Draw draws keys with their descriptions at column x of the box's first row, and returns the column after them.
func Draw(c *layout.Canvas, b layout.Box, x int, th *theme.Theme, keys []key.Binding) int {
	_, b = b.Left(x)
	if b.Empty() {
		return x
	}
	h := help.New()
	h.ShortSeparator = separator
	h.Styles = help.Styles{
		ShortKey: th.Style(theme.Key), ShortDesc: th.Style(theme.Muted), Ellipsis: th.Style(theme.Muted),
	}
	h.SetWidth(b.W)
	return x + c.PrintStyled(b, h.ShortHelpView(keys))
}
