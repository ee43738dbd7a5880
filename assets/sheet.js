// A button that opens the print dialog; what is printed is decided by the styles.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = () => print();
}
