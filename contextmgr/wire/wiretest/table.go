package wiretest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
)

// Contents tests which contents the items between the brackets have. A content is written as form, call, tool, and
// "error" and the number of other parts if there are any, then its text in quotes.
func Contents(t *testing.T, c wire.Scanner, k Talk, cases map[string]struct {
	Items string
	Want  []string
}) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			call := k.request(k.Body(tc.Items))
			s := scan(t, c, call, nil)
			var got []string
			for _, content := range s.Contents {
				words := []string{string(content.Form), content.Call, content.Tool}
				if content.Error {
					words = append(words, "error")
				}
				if content.Other > 0 {
					words = append(words, fmt.Sprint(content.Other))
				}
				words = append(words, fmt.Sprintf("%q", content.Text(content.Of(call.Body))))
				got = append(got, strings.Join(words, " "))
			}
			if !slices.Equal(got, tc.Want) {
				t.Errorf("got %s\nwant %s", strings.Join(got, "\n    "), strings.Join(tc.Want, "\n     "))
			}
			replaceAny(t, c, call, s)
		})
	}
}
