package gnmi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/diag"
)

// connectError says why there is no connection, and what the operator can set.
func (t *Target) connectError(ctx context.Context, err error) error {
	e := t.endpoint
	if s := status.Convert(err); s.Code() == codes.Unauthenticated || s.Code() == codes.PermissionDenied {
		return &drivers.AuthError{Device: e.Device, Err: errors.New(e.Quote(s.Message())), Hint: "check user and password, or cert and certKey, of the device"}
	}
	cause := t.watch.failure()
	if hint := tlsHint(cause, e); hint != "" {
		return &drivers.AuthError{Device: e.Device, Err: cause, Hint: hint}
	}
	switch {
	case ctx.Err() != nil && cause != nil:
		cause = fmt.Errorf("%w: %w", ctx.Err(), cause)
	case ctx.Err() != nil:
		cause = ctx.Err()
	case cause == nil && err != nil:
		cause = errors.New(e.Quote(status.Convert(err).Message()))
	}
	return &drivers.UnreachableError{Device: e.Device, Address: e.GNMI, Err: cause}
}

// tlsHint is what to do about a failure of TLS; empty where it is not one.
func tlsHint(err error, e drivers.Endpoint) string {
	var notTLS tls.RecordHeaderError
	var unknownCA x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var invalid x509.CertificateInvalidError
	var remote *net.OpError
	switch {
	case errors.Is(err, errNotPlain):
		return "the server seems to speak TLS: take tls: plaintext away"
	case errors.As(err, &notTLS):
		return "the server does not speak TLS on this port: give it a certificate, check the port, or set tls: plaintext to send everything, the password too, unencrypted"
	case errors.As(err, &unknownCA):
		return "set ca to a PEM file with the certificate that signed the device's, or, on a lab device only, tls: skip-verify"
	case errors.As(err, &wrongName):
		return fmt.Sprintf("set serverName to one of the names in the device's certificate (%s), or give the device one for its address", names(wrongName.Certificate))
	case errors.As(err, &invalid):
		return "the device's certificate is not valid now or not for servers: renew it"
	case errors.As(err, &remote) && remote.Op == "remote error" && e.TLS.Cert == "":
		return "the server refuses weir's side of TLS: it may want a client certificate, so set cert and certKey"
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "the server refuses weir's client certificate: check that its CA is one that the device trusts"
	}
	return ""
}

func names(c *x509.Certificate) string {
	if c == nil {
		return "none"
	}
	all := c.DNSNames
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "it has none"
	}
	return diag.Excerpt(fmt.Sprint(all))
}

// getError is the error of a Get.
func (t *Target) getError(ctx context.Context, path string, err error) error {
	device, s := t.endpoint.Device, status.Convert(err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: get %s: %w", device, path, ctx.Err())
	case s.Code() == codes.Unauthenticated, s.Code() == codes.PermissionDenied, s.Code() == codes.Unavailable:
		return t.connectError(ctx, err)
	default:
		return &drivers.RejectedError{Device: device, Input: path, Reason: t.reason(s)}
	}
}

// setError is what is known about a Set that ended with err. The specification makes a Set a transaction, so every code
// that refuses the request says that nothing took effect. The codes for trouble inside the server say nothing, unless the
// platform's pack knows the words.
func (t *Target) setError(ctx context.Context, err error) error {
	device, s := t.endpoint.Device, status.Convert(err)
	if s.Code() == codes.ResourceExhausted && strings.HasPrefix(s.Message(), "grpc: received message larger") {
		// gRPC's own words about an answer that weir does not read: the device did something.
		return &drivers.UnknownError{Device: device, Err: errors.New(t.reason(s))}
	}
	switch s.Code() {
	case codes.Unauthenticated:
		return drivers.NotSent(device, t.connectError(ctx, err))
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.ResourceExhausted,
		codes.FailedPrecondition, codes.Aborted, codes.OutOfRange, codes.Unimplemented:
		return &drivers.RejectedError{Device: device, Reason: t.reason(s)}
	}
	for _, r := range t.pack.Refusals {
		if r.Code == s.Code().String() && r.Text.Match(s.Message()) {
			return &drivers.RejectedError{Device: device, Reason: t.reason(s)}
		}
	}
	if ctx.Err() != nil {
		return &drivers.UnknownError{Device: device, Err: ctx.Err()}
	}
	return &drivers.UnknownError{Device: device, Err: errors.New(t.reason(s))}
}

// reason is the device's own words.
func (t *Target) reason(s *status.Status) string {
	return fmt.Sprintf("%s (%s)", t.endpoint.Quote(s.Message()), s.Code())
}
