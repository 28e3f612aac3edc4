package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
)

// secret resolves a reference: env:NAME, file:PATH, exec:COMMAND. An empty reference is an empty secret. The value appears in
// no error.
func secret(ctx context.Context, reference string) (drivers.Secret, error) {
	if reference == "" {
		return "", nil
	}
	kind, what, _ := strings.Cut(reference, ":")
	switch kind {
	case "env":
		value, set := os.LookupEnv(what)
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set", what)
		}
		return drivers.Secret(value), nil
	case "file":
		body, err := os.ReadFile(what)
		if err != nil {
			return "", fmt.Errorf("read a secret: %w", err)
		}
		return drivers.Secret(strings.TrimRight(string(body), "\n")), nil
	case "exec":
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, "sh", "-c", what).Output()
		if err != nil {
			return "", fmt.Errorf("run the command %q for a secret: %w", what, err)
		}
		return drivers.Secret(strings.TrimRight(string(out), "\n")), nil
	}
	return "", errors.New("a secret is written as env:NAME, file:PATH or exec:COMMAND")
}
