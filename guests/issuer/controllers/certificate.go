// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"dormouse.dev/guests/issuer/pki"
	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
)

// notReady is a state that only somebody else can end: it goes into the status, and an event will come.
type notReady struct{ reason, message string }

func (n *notReady) Error() string { return n.reason + ": " + n.message }

func wait(reason, format string, args ...any) error {
	return &notReady{reason, fmt.Sprintf(format, args...)}
}

func (c *controllers) reconcileCertificate(ctx context.Context, q operator.Request) (operator.Result, error) {
	var certificate Certificate
	if err := c.client.Get(ctx, q.NamespacedName, &certificate); err != nil {
		return operator.Result{}, operator.IgnoreNotFound(err)
	}
	if operator.IsBeingDeleted(&certificate) {
		return operator.Result{}, nil // its Secret goes with it
	}
	before, err := json.Marshal(&certificate.Status)
	if err != nil {
		return operator.Result{}, err
	}
	result, err := c.ensure(ctx, &certificate)
	condition := meta.Condition{Type: Ready, Status: meta.True, Reason: "Issued", ObservedGeneration: certificate.Generation}
	var blocked *notReady
	if errors.As(err, &blocked) {
		condition.Status, condition.Reason, condition.Message = meta.False, blocked.reason, blocked.message
		err = nil
	} else if err != nil {
		return operator.Result{}, err
	}
	meta.SetCondition(&certificate.Status.Conditions, condition, c.now())
	certificate.Status.ObservedGeneration = certificate.Generation
	after, err := json.Marshal(&certificate.Status)
	if err != nil || string(before) == string(after) {
		return result, err
	}
	if blocked != nil {
		c.op.Event(&certificate, operator.Warning, blocked.reason, blocked.message)
	}
	return result, c.client.Status().Update(ctx, &certificate)
}

// ensure that the Secret holds the certificate that the spec asks for, and says when to look again.
func (c *controllers) ensure(ctx context.Context, certificate *Certificate) (operator.Result, error) {
	request, err := certificate.Spec.request()
	if err != nil {
		return operator.Result{}, wait("InvalidSpec", "%v", err)
	}
	ca, err := c.signer(ctx, certificate)
	if err != nil {
		return operator.Result{}, err
	}
	secret := Secret{Type: secretTypeTLS}
	secret.Namespace, secret.Name = certificate.Namespace, certificate.Spec.SecretName
	err = c.client.Get(ctx, operator.KeyOf(&secret), &secret)
	exists := err == nil
	if operator.IgnoreNotFound(err) != nil {
		return operator.Result{}, err
	}
	if exists && !isOwnedBy(&secret, certificate) {
		return operator.Result{}, wait("SecretTaken", "secret '%s' is there already and does not belong to this certificate", secret.Name)
	}
	var pair *pki.Pair
	why := "there is no secret yet"
	if exists {
		if pair, err = secret.pair(); err != nil {
			why = err.Error()
		} else {
			why = pair.Stale(request, ca, c.now())
		}
	}
	if why != "" {
		if pair, err = c.issue(ctx, certificate, request, ca, pair, &secret, why); err != nil {
			return operator.Result{}, err
		}
	}
	if err := c.removeOldSecret(ctx, certificate); err != nil {
		return operator.Result{}, err
	}
	renewal := pair.RenewalTime(request)
	s := &certificate.Status
	s.SecretName = secret.Name
	s.NotBefore, s.NotAfter, s.RenewalTime = &pair.Certificate.NotBefore, &pair.Certificate.NotAfter, &renewal
	s.SerialNumber = pair.Certificate.SerialNumber.Text(16)
	c.expires.Set(float64(pair.Certificate.NotAfter.Unix()), certificate.Namespace, certificate.Name)
	return operator.Result{RequeueAfter: max(renewal.Sub(c.now()), 1)}, nil
}

// signer finds the authority; nil for self-signed certificates.
func (c *controllers) signer(ctx context.Context, certificate *Certificate) (*pki.Pair, error) {
	name := certificate.Spec.IssuerRef.Name
	var issuer Issuer
	err := c.client.Get(ctx, operator.NamespacedName{Namespace: certificate.Namespace, Name: name}, &issuer)
	if operator.IsNotFound(err) {
		return nil, wait("IssuerNotFound", "there is no issuer '%s' in this namespace", name)
	}
	if err != nil {
		return nil, err
	}
	ca, err := c.authority(ctx, &issuer)
	if operator.IsTerminal(err) || operator.IsNotFound(err) {
		return nil, wait("IssuerNotReady", "issuer '%s': %v", name, err)
	}
	return ca, err
}

func (c *controllers) issue(ctx context.Context, certificate *Certificate, request *pki.Request, ca, old *pki.Pair, secret *Secret, why string) (*pki.Pair, error) {
	var key crypto.Signer
	if old != nil && certificate.Spec.PrivateKey.RotationPolicy == "Never" {
		key = old.Key
	}
	pair, err := pki.Issue(request, ca, key, c.now())
	if err != nil {
		return nil, err
	}
	exists := secret.ResourceVersion != ""
	secret.Data = map[string][]byte{"tls.crt": pair.CertificatePEM, "tls.key": pair.KeyPEM, "ca.crt": pair.CAPEM}
	if err := operator.SetControllerReference(certificate, secret); err != nil {
		return nil, err
	}
	write := c.client.Create
	if exists {
		write = c.client.Update
	}
	if err := write(ctx, secret); err != nil {
		return nil, err
	}
	slog.Info("issued", "why", why, "notAfter", pair.Certificate.NotAfter)
	c.op.Event(certificate, operator.Normal, "Issued", "a certificate was issued: "+why)
	c.issued.Inc(certificate.Namespace)
	certificate.Status.Revision++
	return pair, nil
}

func isOwnedBy(secret *Secret, certificate *Certificate) bool {
	for _, o := range secret.OwnerReferences {
		if o.UID == certificate.UID && o.Controller != nil && *o.Controller {
			return true
		}
	}
	return false
}

// removeOldSecret deletes the one that was in use before spec.secretName changed.
func (c *controllers) removeOldSecret(ctx context.Context, certificate *Certificate) error {
	name := certificate.Status.SecretName
	if name == "" || name == certificate.Spec.SecretName {
		return nil
	}
	var old Secret
	err := c.client.Get(ctx, operator.NamespacedName{Namespace: certificate.Namespace, Name: name}, &old)
	if err != nil || !isOwnedBy(&old, certificate) {
		return operator.IgnoreNotFound(err)
	}
	return operator.IgnoreNotFound(c.client.Delete(ctx, &old, operator.Preconditions(old.UID, "")))
}
