// Hands a payment over to the provider's own fields. Nothing of a card is read here.
const say = (text) => { document.getElementById("pay-error").textContent = text ?? ""; };

const byStripe = document.getElementById("stripe");
if (byStripe) {
  const stripe = Stripe(byStripe.dataset.key);
  const elements = stripe.elements({ clientSecret: byStripe.dataset.secret });
  elements.create("payment").mount("#payment-element");
  byStripe.addEventListener("submit", async (event) => {
    event.preventDefault();
    say();
    const confirmParams = { return_url: byStripe.dataset.return };
    const { error } = await stripe.confirmPayment({ elements, confirmParams });
    if (error) say(error.message);
  });
}

const byRazorpay = document.getElementById("razorpay");
if (byRazorpay) {
  const options = JSON.parse(byRazorpay.dataset.options);
  const open = () => {
    say();
    const checkout = new Razorpay({
      ...options,
      handler(paid) {
        for (const [name, value] of Object.entries(paid)) {
          if (byRazorpay.elements[name]) byRazorpay.elements[name].value = value;
        }
        byRazorpay.submit();
      },
    });
    checkout.on("payment.failed", ({ error }) => say(error.description));
    checkout.open();
  };
  byRazorpay.querySelector("button").addEventListener("click", open);
  open();
}
