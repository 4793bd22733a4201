package verb

import (
	"fmt"
	"io"

	"orchestrator/thread"
)

// mostTyped is the maximum size of a prompt in bytes.
const mostTyped = 1 << 20

// promptText returns a prompt of the command line; - is standard input.
func promptText(c *cli, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	in, err := io.ReadAll(io.LimitReader(c.stdin, mostTyped+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt from standard input: %w", err)
	}
	if len(in) > mostTyped {
		return "", thread.Hint(fmt.Errorf("standard input exceeds the limit of %d bytes for a prompt: %w", mostTyped,
			thread.ErrInvalid), "put the text in a file and refer to that in the prompt")
	}
	return string(in), nil
}
