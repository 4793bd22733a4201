package remote

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// Browse opens a page in the person's browser, without a shell.
func Browse(_ context.Context, page string) error {
	if _, err := pageOf(page); err != nil {
		return fmt.Errorf("open a page: %w", err)
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, page)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open a page: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
