// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse.dev/guests/issuer/pki"
	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
)

func (c *controllers) reconcileIssuer(ctx context.Context, q operator.Request) (operator.Result, error) {
	var issuer Issuer
	if err := c.client.Get(ctx, q.NamespacedName, &issuer); err != nil {
		return operator.Result{}, operator.IgnoreNotFound(err)
	}
	if operator.IsBeingDeleted(&issuer) {
		return operator.Result{}, c.release(ctx, &issuer)
	}
	if operator.AddFinalizer(&issuer, Finalizer) {
		if err := c.client.Update(ctx, &issuer); err != nil {
			return operator.Result{}, err
		}
	}
	condition := meta.Condition{Type: Ready, Status: meta.True, Reason: "Ready"}
	var result operator.Result
	authority := ""
	ca, err := c.authority(ctx, &issuer)
	switch {
	case operator.IsTerminal(err) || operator.IsNotFound(err):
		condition.Status, condition.Reason, condition.Message = meta.False, "NotUsable", err.Error()
	case err != nil:
		return operator.Result{}, err
	case ca != nil:
		authority = ca.Certificate.SerialNumber.Text(16)
		// Nobody tells when it expires.
		result.RequeueAfter = ca.Certificate.NotAfter.Sub(c.now()) + time.Second
	}
	return result, c.setIssuerStatus(ctx, &issuer, condition, authority)
}

// authority gives what signs the issuer's certificates, nil if they sign themselves. Terminal errors and
// not-found are the user's to mend.
func (c *controllers) authority(ctx context.Context, issuer *Issuer) (*pki.Pair, error) {
	switch {
	case (issuer.Spec.SelfSigned != nil) == (issuer.Spec.CA != nil):
		return nil, operator.TerminalError(errors.New("spec: one of selfSigned and ca"))
	case issuer.Spec.SelfSigned != nil:
		return nil, nil
	}
	var secret Secret
	key := operator.NamespacedName{Namespace: issuer.Namespace, Name: issuer.Spec.CA.SecretName}
	if err := c.client.Get(ctx, key, &secret); err != nil {
		return nil, err
	}
	ca, err := secret.pair()
	if err == nil {
		err = ca.CheckCA(c.now())
	}
	if err != nil {
		return nil, operator.TerminalError(fmt.Errorf("secret '%s': %w", key.Name, err))
	}
	return ca, nil
}

// release an issuer that is to be deleted, unless it is in use.
func (c *controllers) release(ctx context.Context, issuer *Issuer) error {
	if !operator.HasFinalizer(issuer, Finalizer) {
		return nil
	}
	var users operator.List[Certificate]
	err := c.client.List(ctx, &users, operator.InNamespace(issuer.Namespace), operator.MatchingIndex(byIssuer, issuer.Name))
	if err != nil {
		return err
	}
	if n := len(users.Items); n > 0 {
		return c.setIssuerStatus(ctx, issuer, meta.Condition{Type: Ready, Status: meta.False, Reason: "InUse",
			Message: fmt.Sprintf("is being deleted; %d certificates, %s first, refer to it", n, users.Items[0].Name)}, issuer.Status.Authority)
	}
	operator.RemoveFinalizer(issuer, Finalizer)
	return operator.IgnoreNotFound(c.client.Update(ctx, issuer))
}

func (c *controllers) setIssuerStatus(ctx context.Context, issuer *Issuer, condition meta.Condition, authority string) error {
	condition.ObservedGeneration = issuer.Generation
	changed := meta.SetCondition(&issuer.Status.Conditions, condition, c.now())
	if !changed && issuer.Status.ObservedGeneration == issuer.Generation && issuer.Status.Authority == authority {
		return nil
	}
	issuer.Status.ObservedGeneration, issuer.Status.Authority = issuer.Generation, authority
	return c.client.Status().Update(ctx, issuer)
}
