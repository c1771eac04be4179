"""The company's details on printed papers, such as its address and its logo."""
