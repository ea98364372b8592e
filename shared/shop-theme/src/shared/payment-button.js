// The buttons that lead from a product to the checkout at once. Scripts of themes add to the cart when a form is submitted,
// and stay on the page: these buttons submit theirs past them.
(() => {
  if (window.platformPaymentButton) return;
  window.platformPaymentButton = true;
  const buttons = '[data-shopify="payment-button"] .shopify-payment-button__button';
  const submit = HTMLFormElement.prototype.submit;
  addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest(buttons) : null;
    const form = button?.form;
    if (!form) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!form.noValidate && !form.reportValidity()) return;
    const field = document.createElement('input');
    field.type = 'hidden';
    field.name = button.name;
    field.value = button.value;
    const ours = { action: button.getAttribute('formaction'), method: 'post', target: '_self' };
    const own = Object.keys(ours).map((name) => [name, form.getAttribute(name)]);
    for (const [name, value] of Object.entries(ours)) form.setAttribute(name, value);
    button.after(field);
    // What is sent is decided now: the form is as it was when the browser comes back to the page.
    submit.call(form);
    field.remove();
    for (const [name, value] of own) {
      if (value === null) form.removeAttribute(name);
      else form.setAttribute(name, value);
    }
  }, true);
})();
