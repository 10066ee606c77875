"""The instructor's tool: builds what is generated, releases problem sets, grades and reports."""
