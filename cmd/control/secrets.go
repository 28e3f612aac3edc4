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

// maxSecret is how many bytes a secret has at most: the longest are keys, of some KB.
const maxSecret = 64 << 10

// bounded keeps what a command prints, and ends a command that prints more than a secret has.
type bounded struct{ strings.Builder }

func (b *bounded) Write(piece []byte) (int, error) {
	if b.Len()+len(piece) > maxSecret {
		return 0, drivers.TooMuch(maxSecret)
	}
	return b.Builder.Write(piece)
}

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
		body, err := drivers.ReadFile(what, maxSecret)
		if err != nil {
			return "", fmt.Errorf("read a secret: %w", err)
		}
		return drivers.Secret(strings.TrimRight(string(body), "\n")), nil
	case "exec":
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		var out bounded
		command := exec.CommandContext(ctx, "sh", "-c", what)
		command.Stdout, command.WaitDelay = &out, time.Second
		if err := command.Run(); err != nil {
			return "", fmt.Errorf("run the command %q for a secret: %w", what, err)
		}
		return drivers.Secret(strings.TrimRight(out.String(), "\n")), nil
	}
	return "", errors.New("a secret is written as env:NAME, file:PATH or exec:COMMAND")
}
