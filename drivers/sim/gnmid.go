package sim

import (
	"context"
	"crypto/subtle"
	"errors"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// ServeGNMI answers the calls of s.GNMI by server until ctx ends, and returns when no call runs any more. It lets in who shows a
// certificate that the TLS handshake has verified, or the user's name and password in the metadata; the others get denied.
// Without s.TLS it speaks in the clear.
func ServeGNMI(ctx context.Context, s Services, server gpb.GNMIServer, denied error, more ...grpc.ServerOption) error {
	options := append([]grpc.ServerOption{
		grpc.WaitForHandlers(true),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if !s.letsIn(ctx) {
				return nil, denied
			}
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if !s.letsIn(stream.Context()) {
				return denied
			}
			return next(srv, stream)
		}),
	}, more...)
	if s.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.TLS)))
	}
	g := grpc.NewServer(options...)
	gpb.RegisterGNMIServer(g, server)
	stopped := context.AfterFunc(ctx, g.Stop)
	defer stopped()
	err := g.Serve(s.GNMI)
	g.Stop() // returns when every handler has
	if ctx.Err() != nil || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// letsIn says whether the caller has shown who it is.
func (s Services) letsIn(ctx context.Context) bool {
	if p, ok := peer.FromContext(ctx); ok {
		if t, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(t.State.VerifiedChains) > 0 {
			return true
		}
	}
	md, _ := metadata.FromIncomingContext(ctx)
	user, password := md.Get("username"), md.Get("password")
	return len(user) == 1 && len(password) == 1 && same(user[0], s.User) && same(password[0], s.Password)
}

// same compares in a time that does not tell how much of a secret was right.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
